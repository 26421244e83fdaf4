// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How a row moved: over committed baselines, by what git remembers of their file, and over local runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::baseline::parse_baseline;
use crate::record::{Row, Status, read_run};

/// A row at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// When it was measured, seconds since 1970.
    pub unix_s: u64,
    /// `baseline 0123abcd` or `run 1790000000-1`.
    pub source: String,
    /// The device.
    pub device: String,
    /// Revision that was measured.
    pub revision: Option<String>,
    /// The operator.
    pub kernel: String,
    /// The case.
    pub label: String,
    /// The implementation.
    pub implementation: Option<String>,
    /// Outcome.
    pub status: Status,
    /// Microseconds.
    pub us: Option<f64>,
    /// Lower end of its interval.
    pub low_us: Option<f64>,
    /// Upper end.
    pub high_us: Option<f64>,
    /// Fastest reference over ours.
    pub ratio: Option<f64>,
}

impl Point {
    fn of(row: &Row, source: &str) -> Point {
        let ours = row.ours();
        Point {
            unix_s: row.started_unix_s,
            source: source.to_owned(),
            device: row.device.name.clone(),
            revision: row.revision.clone(),
            kernel: row.kernel.clone(),
            label: row.label.clone(),
            implementation: row.implementation.clone(),
            status: row.status,
            us: ours.map(|ours| ours.us),
            low_us: ours.and_then(|ours| ours.interval_us).map(|i| i.low_us),
            high_us: ours.and_then(|ours| ours.interval_us).map(|i| i.high_us),
            ratio: row.ratio,
        }
    }
}

/// Every point of rows that `wanted` admits, oldest first. What cannot be read is named and left out: an old baseline of
/// another version is no reason to show nothing.
pub fn history(
    baselines: &Path,
    runs: &Path,
    wanted: &dyn Fn(&Row) -> bool,
    unread: &mut dyn FnMut(String),
) -> Vec<Point> {
    let mut points = Vec::new();
    let mut add = |rows: &[Row], source: &str| {
        points.extend(rows.iter().filter(|row| wanted(row)).map(|row| Point::of(row, source)));
    };
    for path in files(baselines) {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { continue };
        let name = name.to_string_lossy();
        let mut committed = false;
        for line in git(folder, &["log", "--format=%H", "--", &*name]).unwrap_or_default().lines() {
            committed = true;
            // `./` names a file of this folder, wherever the repository begins.
            let Some(text) = git(folder, &["show", &format!("{line}:./{name}")]) else { continue };
            match parse_baseline(&path, &text) {
                Ok(baseline) => add(&baseline.rows, &format!("baseline {}", line.get(..8).unwrap_or(line))),
                Err(error) => unread(format!("at {line}: {error}")),
            }
        }
        if !committed {
            match crate::baseline::read_baseline(&path) {
                Ok(baseline) => add(&baseline.rows, "baseline, not committed"),
                Err(error) => unread(error.to_string()),
            }
        }
    }
    for path in files(runs) {
        match read_run(&path) {
            Ok(run) => add(&run.rows, &format!("run {}", run.id)),
            Err(error) => unread(error.to_string()),
        }
    }
    points.sort_by(|a, b| {
        (&a.kernel, &a.label, &a.device, a.unix_s, &a.source)
            .cmp(&(&b.kernel, &b.label, &b.device, b.unix_s, &b.source))
    });
    // A row that a merge left alone is in many baselines; it was measured once.
    points.dedup_by(|b, a| {
        b.source.starts_with("baseline")
            && a.source.starts_with("baseline")
            && (b.unix_s, b.us, &b.kernel, &b.label) == (a.unix_s, a.us, &a.kernel, &a.label)
    });
    points
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    files
}

/// Seconds since 1970 as `2026-11-30 02:15`, in UTC (days to a date as in H. Hinnant, "chrono-compatible low-level date
/// algorithms").
#[must_use]
pub fn date(unix_s: u64) -> String {
    let (days, seconds) = (unix_s / 86_400 + 719_468, unix_s % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", seconds / 3600, seconds / 60 % 60)
}

/// What git answers in a folder, or `None` where it refuses or is not there.
#[must_use]
pub fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let output =
        Command::new("git").arg("-C").arg(folder).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::promote;
    use crate::record::sample::{row, run};
    use crate::record::write_run;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (unix_s, text) in [
            (0, "1970-01-01 00:00"),
            (951_782_400, "2000-02-29 00:00"),
            (1_790_000_000, "2026-09-21 14:13"),
            (4_107_542_399, "2100-02-28 23:59"),
        ] {
            assert_eq!(date(unix_s), text);
        }
    }

    #[test]
    fn a_row_is_followed_through_commits_and_runs() {
        let folder = tempfile::tempdir().unwrap();
        let (baselines, runs) = (folder.path().join("suites/baseline"), folder.path().join("runs"));
        std::fs::create_dir_all(&baselines).unwrap();
        let path = baselines.join("cpu.json");
        let ok = |arguments: &[&str]| git(folder.path(), arguments).unwrap_or_else(|| panic!("git {arguments:?}"));
        ok(&["init", "-q"]);
        for (us, at) in [(10.0, 100), (9.0, 200)] {
            let mut run = run(
                "1",
                vec![row("rms_norm", "t1_h8_f32", &[us, us], None), row("l2_norm", "t1_h8_f32", &[7.0], None)],
            );
            run.rows[0].started_unix_s = at;
            std::fs::write(&path, promote(&run, &path, None, false).unwrap()).unwrap();
            ok(&["add", "."]);
            ok(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]);
        }
        let mut local = run("77-1", vec![row("rms_norm", "t1_h8_f32", &[8.0, 8.0], Some(&[16.0, 16.0]))]);
        local.rows[0].started_unix_s = 300;
        write_run(&local, &runs.join("77-1.json")).unwrap();
        std::fs::write(runs.join("broken.json"), "{").unwrap();
        let mut unread = Vec::new();
        let points = history(&baselines, &runs, &|row| row.kernel == "rms_norm", &mut |e| unread.push(e));
        let seen: Vec<_> = points.iter().map(|p| (p.unix_s, p.us, p.ratio)).collect();
        assert_eq!(seen, [(100, Some(10.0), None), (200, Some(9.0), None), (300, Some(8.0), Some(2.0))]);
        assert_eq!(points[2].source, "run 77-1");
        assert!(unread.len() == 1 && unread[0].contains("broken.json"), "{unread:?}");
        // The row that did not move was measured once.
        assert_eq!(history(&baselines, &runs, &|row| row.kernel == "l2_norm", &mut |_| {}).len(), 1);
    }
}
