// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Sweeps on this machine, however busy it is: the rows admit others, so nothing here rests on a time.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use opweave_suite::baseline::Baseline;
use opweave_suite::record::{Run, RunState, Status, read_run};

use crate::run::{Ran, command, finish, opweave};

fn suites() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites").display().to_string()
}

struct Place(tempfile::TempDir);

impl Place {
    fn new(labels: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config =
            |l: &&str| format!("[[config]]\nkernel = \"rms_norm\"\nlabel = \"{l}\"\nrepeat_ms = 1\nwarmup_ms = 0\n");
        std::fs::write(folder.path().join("list.toml"), labels.iter().map(config).collect::<String>()).unwrap();
        Place(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn suite(&self, more: &[&str]) -> Command {
        let (list, runs) = (self.path("list.toml"), self.path("runs"));
        let mut command = command(&["suite", "--workloads", list.to_str().unwrap(), "--runs", runs.to_str().unwrap()]);
        command.args(["--suites", &suites(), "--threads", "1", "--admit", "1000"]).args(more);
        command.env("OPWEAVE_LOCK_DIR", self.path("locks"));
        command
    }

    fn run(&self, more: &[&str]) -> Ran {
        finish(&mut self.suite(more))
    }

    fn report(&self, run: &str, more: &[&str]) -> Ran {
        let runs = self.path("runs");
        opweave(&[&["report", run, "--suites", "/nowhere", "--runs", runs.to_str().unwrap()], more].concat())
    }

    /// The only run there is.
    fn only(&self) -> (PathBuf, Run) {
        let files = std::fs::read_dir(self.path("runs")).unwrap().map(|e| e.unwrap().path());
        let mut files: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|e| e == "json")).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        let path = files.remove(0);
        let run = read_run(&path).unwrap();
        (path, run)
    }
}

const LABELS: [&str; 3] = ["t1_h4096_bf16", "t37_h769_bf16", "t16_h4096_f32"];

/// Processes that measure for the suite `of`, alive.
fn workers(of: u32) -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(|e| e.unwrap().file_name().into_string().ok());
    all.filter(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().nth(1).unwrap_or("").to_owned());
        parent == Some(of.to_string())
    })
    .collect()
}

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let start = Instant::now();
    while !there() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_workload_files_are_checked_without_a_device() {
    let ran = opweave(&["suite", "--check", "--suites", &suites()]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let folder = tempfile::tempdir().unwrap();
    let ran = opweave(&["suite", "--check", "--suites", folder.path().to_str().unwrap()]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.out.contains("normalization/rms_norm.toml: operator `rms_norm` has no workload file"), "{}", ran.out);
}

#[test]
fn a_sweep_measures_each_row_in_a_process_and_is_held_to_a_baseline() {
    let place = Place::new(&LABELS[..1]);
    let ran = place.run(&[]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("rms_norm/t1_h4096_bf16 ok") && ran.err.contains("1/1, 0 s left"), "{}", ran.err);
    let (path, run) = place.only();
    assert_eq!((run.state, run.leased, run.partial.as_deref()), (RunState::Complete, true, Some("--workloads")));
    let row = &run.rows[0];
    assert_eq!((row.status, row.impls.len(), row.attempts.len()), (Status::Ok, 1, 1), "{row:?}");
    assert_eq!(row.series.as_deref(), Some("wall kernel_only completion cold"));
    assert!(path.with_extension("").join(&row.attempts[0].log).is_file());
    // Not promoted: everything that is against it.
    let promote = |run: &Path| finish(command(&["promote", run.to_str().unwrap()]).current_dir(place.0.path()));
    let ran = promote(&path);
    assert_eq!(ran.code, 1, "{}", ran.out);
    for reason in ["debug build", "partial (--workloads)", "admitted others"] {
        assert!(
            ran.err.contains(reason) || (reason == "debug build" && !cfg!(debug_assertions)),
            "{reason}: {}",
            ran.err
        );
    }
    // C06: the exit code says what the table says.
    let held_to = |factor: f64, more: &[&str]| {
        let mut base = Baseline::of(&run);
        for one in base.rows.iter_mut().flat_map(|row| &mut row.impls) {
            one.us *= factor;
            one.round_us.iter_mut().for_each(|us| *us = one.us);
            (one.interval_us, one.raw) = (None, None);
        }
        let file = place.path("baseline.json");
        std::fs::write(&file, serde_json::to_string(&base).unwrap()).unwrap();
        place.run(&[&["--against", file.to_str().unwrap()], more].concat())
    };
    let ran = held_to(0.001, &[]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("slower") && ran.out.contains("regressed"), "{}", ran.out);
    let ran = held_to(1000.0, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("faster"), "{}", ran.out);
    // C09, C10: no baseline, a run in its place, another device.
    let against = |file: &Path, more: &[&str]| place.run(&[&["--against", file.to_str().unwrap()], more].concat());
    assert_eq!(against(&place.path("nowhere.json"), &[]).code, 2);
    assert_eq!(against(&place.path("nowhere.json"), &["--allow-no-baseline"]).code, 0);
    let ran = against(&path, &[]);
    assert!(ran.code == 2 && ran.err.contains("it is `suite_run`"), "{}", ran.err);
    let mut other = Baseline::of(&run);
    other.device.name = "another".into();
    std::fs::write(place.path("other.json"), serde_json::to_string(&other).unwrap()).unwrap();
    let ran = against(&place.path("other.json"), &[]);
    assert!(ran.code == 2 && ran.err.contains("device.name"), "{}", ran.err);
    // Runs compare as reports do.
    let path = path.to_str().unwrap();
    let ran = opweave(&["compare", path, path]);
    assert!(ran.code == 0 && ran.out.contains("same"), "{}{}", ran.out, ran.err);
    let ran = opweave(&["compare", place.path("other.json").to_str().unwrap(), path, "--table-only"]);
    assert!(ran.code == 0 && ran.out.contains("no verdict"), "{}{}", ran.out, ran.err);
    let page = place.path("page.html");
    let ran = place.report(path, &["--output", page.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(std::fs::read_to_string(&page).unwrap().contains("t1_h4096_bf16"));
    assert!(std::fs::read_to_string(page.with_extension("md")).unwrap().contains("# Suite run"));
    assert_eq!(place.report(path, &["--against", path]).code, 0);
    let runs = place.path("runs");
    let ran = opweave(&["history", "rms_norm", "--runs", runs.to_str().unwrap(), "--suites", "/nowhere"]);
    assert!(ran.code == 0 && ran.out.contains("rms_norm/t1_h4096_bf16"), "{}{}", ran.out, ran.err);
}

#[test]
fn c09_a_baseline_that_this_checkout_changed_needs_a_reason() {
    let place = Place::new(&LABELS[..1]);
    assert_eq!(place.run(&[]).code, 0);
    let (_, run) = place.only();
    let git = |args: &[&str]| {
        let fixed = ["-c", "user.name=a", "-c", "user.email=a@b"];
        assert!(Command::new("git").args(fixed).args(args).current_dir(place.0.path()).status().unwrap().success());
    };
    let file = place.path("b.json");
    std::fs::write(&file, serde_json::to_string(&Baseline::of(&run)).unwrap()).unwrap();
    git(&["init", "-q"]);
    git(&["add", "b.json"]);
    git(&["commit", "-qm", "x"]);
    std::fs::write(&file, serde_json::to_string_pretty(&Baseline::of(&run)).unwrap()).unwrap();
    let against = |more: &[&str]| place.run(&[&["--threshold", "900", "--against"], more].concat());
    let ran = against(&[file.to_str().unwrap()]);
    assert!(ran.code == 2 && ran.err.contains("was changed in this checkout"), "{}", ran.err);
    assert_eq!(against(&[file.to_str().unwrap(), "--baseline-reason", "a new kernel"]).code, 0);
    let committed = format!("HEAD:{}", file.display());
    let ran = against(&[&committed]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn unknown_names_are_refused_before_anything_runs() {
    let place = Place::new(&["t1_h4096_bf17"]);
    let ran = place.run(&[]);
    assert!(ran.code == 2 && ran.err.contains("did you mean `t1_h4096_bf16`?"), "{}", ran.err);
    let ran = opweave(&["suite", "--suites", &suites(), "--kernel", "rms_nrom"]);
    assert!(ran.code == 2 && ran.err.contains("did you mean --kernel rms_norm?"), "{}", ran.err);
    assert_eq!(opweave(&["suite", "--shard", "3/2"]).code, 2);
    assert!(!place.path("runs").exists());
}

fn start(place: &Place) -> (Child, std::io::Lines<BufReader<std::process::ChildStderr>>) {
    let mut child = place.suite(&[]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    (child, lines)
}

#[test]
fn a_suite_that_is_killed_leaves_a_whole_file_no_child_and_no_lock() {
    let place = Place::new(&LABELS);
    let (mut child, mut lines) = start(&place);
    assert!(lines.next().unwrap().unwrap().contains(" ok"));
    let mut there = Vec::new();
    wait_for("the second row's process", || {
        there = workers(child.id());
        !there.is_empty()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let alive = |pid: &String| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_else(|_| ") Z".into());
        !stat.rsplit_once(')').unwrap().1.trim().starts_with('Z')
    };
    wait_for("its child to end", || !there.iter().any(alive));
    let (path, run) = place.only();
    assert_eq!((run.state, run.rows.len()), (RunState::Running, 1));
    // The lock is free, and the run goes on where it was.
    let ran = place.run(&["--resume", run.id.as_str(), "--lease-limit", "0"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let whole = read_run(&path).unwrap();
    assert_eq!((whole.state, whole.rows.len()), (RunState::Complete, 3));
    assert_eq!(whole.rows[0], run.rows[0], "it was not measured again");
    // Another plan is another run.
    let ran = place.run(&["--resume", run.id.as_str(), "--rounds", "3"]);
    assert!(ran.code == 2 && ran.err.contains("its protocol was"), "{}", ran.err);
}

#[test]
fn an_interrupt_ends_the_row_and_says_what_was_not_measured() {
    let place = Place::new(&LABELS);
    let (mut child, mut lines) = start(&place);
    assert!(lines.next().unwrap().unwrap().contains(" ok"));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let (_, run) = place.only();
    assert_eq!(run.state, RunState::Stopped);
    assert_eq!(run.rows.iter().map(|r| r.status).collect::<Vec<_>>(), [Status::Ok, Status::Cancelled]);
}

#[test]
fn two_suites_at_once_take_turns() {
    let place = Place::new(&LABELS[..2]);
    let (mut first, mut lines) = start(&place);
    assert!(lines.next().unwrap().unwrap().contains(" ok"));
    let (mut second, mut waits) = start(&place);
    let line = waits.next().unwrap().unwrap();
    assert!(line.contains(&format!("held by process {}", first.id())), "{line}");
    assert!(workers(second.id()).is_empty());
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert_eq!(second.wait().unwrap().code(), Some(0));
}

#[test]
fn shards_become_one_run() {
    let place = Place::new(&LABELS);
    for shard in ["1/2", "2/2"] {
        assert_eq!(place.run(&["--shard", shard]).code, 0);
    }
    let runs = place.path("runs");
    let files = std::fs::read_dir(&runs).unwrap().map(|e| e.unwrap().path());
    let parts: Vec<String> = files.filter(|p| p.extension().is_some()).map(|p| p.display().to_string()).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let merge = |parts: &[&str]| opweave(&[&["suite", "merge", "--runs", runs.to_str().unwrap()], parts].concat());
    let ran = merge(&parts);
    assert!(ran.code == 0 && ran.out.contains("3 rows of 2 shards"), "{}{}", ran.out, ran.err);
    let ran = merge(&[parts[0], parts[0]]);
    assert!(ran.code == 2 && ran.err.contains("in another shard as well"), "{}", ran.err);
}
