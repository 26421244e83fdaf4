// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! What the suite promises, tried on this machine: kills at random moments, interference, what a row costs beyond its budget.
//!
//! Timed, so no test: the results stand in `docs/benchmarking.md`, with the revision they were measured at.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde_json::Value;

/// Which bars.
#[derive(Args)]
pub(crate) struct Options {
    /// The release binary
    #[arg(long, value_name = "FILE", default_value = "target/release/opweave")]
    binary: PathBuf,
    /// Moments at which the suite is killed; 0 for none
    #[arg(long, default_value_t = 50)]
    kills: u32,
    /// Rows whose cost is measured; 0 for none
    #[arg(long, default_value_t = 12)]
    rows: usize,
    /// Leave the planted interference out
    #[arg(long)]
    no_interference: bool,
}

/// Rows of a few milliseconds, for kills and costs.
const LABELS: [&str; 4] = ["t1_h4096_bf16", "t37_h769_bf16", "t32_h3584_bf16", "t64_h4096_bf16"];

/// Where the runs of the bars go.
const FOLDER: &str = "target/bars";

/// Tries the bars and prints what came out.
///
/// # Errors
/// The first bar that is not met.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let bars = Bars { root, binary: fs::canonicalize(root.join(&options.binary)).context("no such binary")? };
    if options.rows > 0 {
        bars.cost(options.rows)?;
    }
    if !options.no_interference {
        bars.interference()?;
    }
    if options.kills > 0 {
        bars.kills(options.kills)?;
    }
    Ok(())
}

struct Bars<'a> {
    root: &'a Path,
    binary: PathBuf,
}

impl Bars<'_> {
    /// A suite of some rows in a folder of its own, which is emptied.
    fn suite(&self, name: &str, rows: usize, more: &[&str]) -> Result<(Command, PathBuf)> {
        let folder = self.root.join(FOLDER).join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let kernels = ["rms_norm", "gemma_rms_norm", "l2_norm", "layer_norm", "fused_add_rms_norm"];
        let config = |at: usize| {
            let (kernel, label) = (kernels[at / LABELS.len() % kernels.len()], LABELS[at % LABELS.len()]);
            format!("[[config]]\nkernel = \"{kernel}\"\nlabel = \"{label}\"\n")
        };
        fs::write(folder.join("list.toml"), (0..rows).map(config).collect::<String>())?;
        Ok((self.again(&folder, more), folder))
    }

    /// The same suite in the same folder.
    fn again(&self, folder: &Path, more: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg("suite").arg("--workloads").arg(folder.join("list.toml")).arg("--runs").arg(folder.join("runs"));
        command.args(more).env("OPWEAVE_LOCK_DIR", folder.join("locks"));
        command.current_dir(self.root).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Seconds of a row beyond what its protocol asks for.
    fn cost(&self, rows: usize) -> Result<()> {
        let (mut suite, folder) = self.suite("cost", rows.min(20), &["--keep-going"])?;
        suite.status()?;
        let run = only(&folder)?;
        let number = |value: &Value, key: &str| value[key].as_f64().with_context(|| format!("no {key}"));
        let (mut beyond, mut besides) = (Vec::new(), Vec::new());
        for row in run["rows"].as_array().context("no rows")?.iter().filter(|row| row["status"] == "ok") {
            let protocol = &row["protocol"];
            let turn = number(protocol, "warmup_ms")? + number(protocol, "repeat_ms")?;
            let impls = row["impls"].as_array().map_or(1, Vec::len) as f64;
            let elapsed = number(row, "elapsed_s")?;
            beyond.push(elapsed - turn * number(protocol, "rounds")? * impls / 1e3);
            besides.push(elapsed - number(row, "sampling_s")?);
        }
        ensure!(!beyond.is_empty(), "no row was measured undisturbed");
        // A round of calls that take less time than making caches cold may take four times its budget.
        for (what, mut cost) in [("its budget of timed work", beyond), ("taking its samples", besides)] {
            cost.sort_by(f64::total_cmp);
            let (middle, most) = (cost[cost.len() / 2], cost[cost.len() - 1]);
            let count = cost.len();
            println!("cost of a row beyond {what}: {middle:.2} s in the middle, {most:.2} s at most, {count} rows");
        }
        Ok(())
    }

    /// Every row beside a program on all processors is disturbed, or none of it counts.
    fn interference(&self) -> Result<()> {
        let (mut suite, folder) = self.suite("interference", 2, &["--keep-going", "--free-limit", "60"])?;
        let mut child = suite.spawn()?;
        // It begins on a free machine.
        wait_for(|| only(&folder).is_ok_and(|_| has_children(child.id())), 120)?;
        let stop = Arc::new(AtomicBool::new(false));
        let threads: Vec<_> = (0..thread::available_parallelism().map_or(2, Into::into))
            .map(|_| {
                let stop = Arc::clone(&stop);
                thread::spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                })
            })
            .collect();
        child.wait()?;
        stop.store(true, Ordering::Relaxed);
        threads.into_iter().for_each(|thread| drop(thread.join()));
        let run = only(&folder)?;
        let rows = run["rows"].as_array().context("no rows")?;
        let good = rows.iter().filter(|row| row["status"] == "ok").count();
        let attempts: usize = rows.iter().map(|row| row["attempts"].as_array().map_or(0, Vec::len)).sum();
        println!("planted interference: {} rows in {attempts} attempts, {good} of them ok (bar 0)", rows.len());
        ensure!(good == 0 && !rows.is_empty(), "a disturbed row passed for a good one");
        Ok(())
    }

    /// Kills the suite at random moments: its file is absent or valid, no child is left, and the run can be resumed.
    fn kills(&self, kills: u32) -> Result<()> {
        // Others are admitted: it is no matter of times.
        let admit = ["--admit", "1000"];
        let (mut absent, mut partial, mut whole) = (0, 0, 0);
        let mut state = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64 | 1;
        let (_, folder) = self.suite("kills", 3, &admit)?;
        for at in 0..kills {
            let _ = fs::remove_dir_all(folder.join("runs"));
            let mut child = self.again(&folder, &admit).spawn()?;
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let moment = Duration::from_millis((state >> 33) % 4500);
            kill_after(&mut child, moment)?;
            wait_for(|| !anybody(&folder), 10).with_context(|| format!("kill {at} after {moment:?} left a child"))?;
            let Ok(run) = only(&folder) else {
                let left = fs::read_dir(folder.join("runs")).map_or(0, |entries| {
                    entries.filter_map(Result::ok).filter(|e| e.path().extension().is_some_and(|x| x == "json")).count()
                });
                ensure!(left == 0, "kill {at} after {moment:?} left a file that cannot be read");
                absent += 1;
                continue;
            };
            let rows = run["rows"].as_array().context("no rows")?.len();
            if rows == 3 {
                whole += 1
            } else {
                partial += 1
            }
            // Each tenth goes on to its end; the lock is free for it.
            if at % 10 == 0 && rows < 3 {
                let status =
                    self.again(&folder, &[&admit[..], &["--resume", "--lease-limit", "0"]].concat()).status()?;
                let after = only(&folder)?["rows"].as_array().map_or(0, Vec::len);
                ensure!(
                    status.success() && after == 3,
                    "kill {at} after {moment:?} does not resume: {status}, {after} rows"
                );
            }
        }
        println!(
            "{kills} kills: {absent} before the file, {partial} with some rows, {whole} with all; no child, no damage"
        );
        Ok(())
    }
}

/// The only run of a folder, if its file is valid JSON.
fn only(folder: &Path) -> Result<Value> {
    let runs = folder.join("runs");
    for entry in fs::read_dir(&runs)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            return serde_json::from_str(&fs::read_to_string(&path)?).with_context(|| path.display().to_string());
        }
    }
    bail!("{} has no run", runs.display())
}

fn kill_after(child: &mut Child, moment: Duration) -> Result<()> {
    let start = Instant::now();
    while start.elapsed() < moment && child.try_wait()?.is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    child.wait()?;
    Ok(())
}

fn wait_for(there: impl Fn() -> bool, seconds: u64) -> Result<()> {
    let start = Instant::now();
    while !there() {
        ensure!(start.elapsed() < Duration::from_secs(seconds), "it took more than {seconds} s");
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Whether a process has children.
fn has_children(pid: u32) -> bool {
    let path = format!("/proc/{pid}/task/{pid}/children");
    fs::read_to_string(path).is_ok_and(|text| !text.trim().is_empty())
}

/// Whether a process names the folder: the suite, or a row's process, whose report goes there.
fn anybody(folder: &Path) -> bool {
    let name = folder.display().to_string();
    let Ok(entries) = fs::read_dir("/proc") else { return false };
    entries.filter_map(Result::ok).any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&name)
    })
}
