// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Runs of several ranks: real processes that meet over the loopback, launched by hand.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use opweave_bench::measurement::Timer;
use opweave_bench::report::{BenchReport, RunStatus};
use opweave_numerics::report::{Report, Status, rank_path};

use crate::run::{Ran, command, finish, opweave};

/// Far more than any of these runs takes, and less than the deadline that ranks have by default.
const LIMIT: Duration = Duration::from_secs(60);

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The binary as one rank.
fn rank(rank: usize, size: usize, port: u16, args: &[&str]) -> Command {
    let mut command = command(args);
    let numbers = [("RANK", rank), ("WORLD_SIZE", size), ("LOCAL_RANK", rank), ("MASTER_PORT", usize::from(port))];
    for (name, value) in numbers {
        command.env(name, value.to_string());
    }
    command.env("MASTER_ADDR", "127.0.0.1");
    command
}

/// A rank that runs, and is ended with the test.
struct Running {
    child: Child,
    out: Option<JoinHandle<String>>,
    err: Option<JoinHandle<String>>,
}

impl Running {
    fn start(mut command: Command) -> Running {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        Running { child, out: Some(collect(out)), err: Some(collect(err)) }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// What it left; a code of -1 if a signal ended it.
    fn end(mut self) -> Ran {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < LIMIT, "a rank hangs");
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut text =
            |of: fn(&mut Running) -> &mut Option<JoinHandle<String>>| of(&mut self).take().unwrap().join().unwrap();
        let (out, err) = (text(|r| &mut r.out), text(|r| &mut r.err));
        Ran { code: status.code().unwrap_or(-1), out, err }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn collect(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        from.read_to_string(&mut text).unwrap();
        text
    })
}

/// Runs all ranks to their end, each with arguments of its own beyond `args`.
fn world(size: usize, args: &[&str], of: impl Fn(usize) -> Vec<&'static str>) -> Vec<Ran> {
    let port = free_port();
    let start = |r| Running::start(rank(r, size, port, &[args, &of(r)].concat()));
    let running: Vec<Running> = (0..size).map(start).collect();
    running.into_iter().map(Running::end).collect()
}

fn codes(ran: &[Ran]) -> Vec<i32> {
    ran.iter().map(|r| r.code).collect()
}

fn texts(ran: &[Ran]) -> String {
    ran.iter().map(|r| format!("{}{}", r.out, r.err)).collect()
}

/// A run of a few small cases.
const FEW: [&str; 6] = ["--operation", "rms_norm", "--threads", "1", "--revision", "test"];

fn args<'a>(command: &'a str, path: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    let label = if command == "bench" { "t1_h4096_*" } else { "t3_h769_*" };
    [&[command][..], &FEW, &["--label", label, "--distributed", "--output", path.to_str().unwrap()], more].concat()
}

fn numerics(path: &Path) -> Report {
    opweave_numerics::report::read(path).unwrap()
}

fn bench(path: &Path) -> BenchReport {
    opweave_bench::report::read(path).unwrap()
}

#[test]
fn ranks_validate_together_and_each_leaves_its_report() {
    let folder = tempfile::tempdir().unwrap();
    for size in [2, 4] {
        let path = folder.path().join(format!("of{size}.json"));
        let ran = world(size, &args("numerics", &path, &[]), |_| vec![]);
        assert_eq!(codes(&ran), vec![0; size], "{}", texts(&ran));
        assert!(ran[0].out.contains("passed: "), "{}", ran[0].out);
        assert!(ran[1..].iter().all(|r| r.out.is_empty()), "{}", texts(&ran));
        let all = numerics(&path);
        let distributed = all.distributed.unwrap();
        assert_eq!((all.status, distributed.size, distributed.rank), (Status::Passed, size, None));
        assert!(all.command.ends_with("--distributed"), "{}", all.command);
        assert!(all.operations[0].cases.iter().all(|case| case.ranks.len() == size));
        let text = std::fs::read_to_string(path.with_extension("md")).unwrap();
        assert!(text.contains(&format!("{size} ranks")), "{text}");
        for (rank, process) in distributed.ranks.iter().enumerate() {
            let own = rank_path(&path, rank);
            assert_eq!(process.report.as_deref(), own.to_str());
            let own = numerics(&own);
            assert_eq!((own.status, own.distributed.unwrap().rank), (Status::Passed, Some(rank)));
            assert_eq!(own.counts, all.counts);
        }
    }
}

#[test]
fn a_sample_of_all_is_the_longest_span_of_any_rank() {
    let folder = tempfile::tempdir().unwrap();
    for size in [2, 4] {
        let path = folder.path().join(format!("of{size}.json"));
        let ran = world(size, &args("bench", &path, &[]), |_| vec!["--cache", "hot"]);
        assert_eq!(codes(&ran), vec![0; size], "{}", texts(&ran));
        let all = bench(&path);
        assert_eq!((all.status, all.distributed.as_ref().map(|d| d.size)), (RunStatus::Complete, Some(size)));
        let own: Vec<BenchReport> = (0..size).map(|rank| bench(&rank_path(&path, rank))).collect();
        for (index, row) in all.rows.iter().enumerate() {
            let spans = |report: &BenchReport| report.rows[index].series[0].measurement.samples.rounds_us().unwrap();
            let [longest] = &spans(&all)[..] else { panic!("one round") };
            let ranks: Vec<Vec<f64>> = own.iter().map(|report| spans(report).concat()).collect();
            assert_eq!(longest.len(), 30);
            for (sample, us) in longest.iter().enumerate() {
                assert_eq!(*us, ranks.iter().map(|spans| spans[sample]).fold(0.0, f64::max));
            }
            let series = &row.series[0];
            assert_eq!((series.counts.warmup, series.counts.samples), (5, 30));
            assert_eq!((series.measurement.timer, row.series.len()), (Timer::Distributed, 1));
            assert!(row.notes[0].contains("of 30 samples"), "{:?}", row.notes);
        }
        let [all, own] = [path.clone(), rank_path(&path, 1)];
        let [all, own] = [all.to_str().unwrap(), own.to_str().unwrap()];
        assert_eq!(opweave(&["compare", all, all]).code, 0);
        let unlike = opweave(&["compare", all, own]);
        assert_eq!(unlike.code, 2, "{}", unlike.out);
        assert!(
            unlike.err.contains(&format!("distributed.ranks: A has `all of {size}`, B has `1 of {size}`")),
            "{}",
            unlike.err
        );
    }
}

#[test]
fn a_rank_that_was_asked_for_something_else_is_named_by_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let cases: [(&str, &[&str], &str); 5] = [
        ("numerics", &["--seed", "7"], "seed is `7` on rank 1, `5309` on ranks 0, 2 and 3"),
        ("numerics", &["--operation", "l2_norm"], "cases is `"),
        ("numerics", &["--tensors", "/nowhere.safetensors"], "begin on rank 1: "),
        ("numerics", &["--device", "gpu:0"], "begin on rank 1: "),
        ("bench", &["--repeat-ms", "5"], "begin on rank 1: failed to use --repeat-ms in a distributed run"),
    ];
    for (command, odd, text) in cases {
        let ran = world(4, &args(command, &path, &[]), |rank| if rank == 1 { odd.to_vec() } else { vec![] });
        assert_eq!(codes(&ran), [2; 4], "{odd:?}: {}", texts(&ran));
        for ran in ran.iter().enumerate().filter(|(rank, _)| *rank != 1).map(|(_, ran)| ran) {
            assert!(ran.err.contains(text), "{odd:?}: {}", ran.err);
        }
        assert!(!path.exists() || numerics_is_incomplete(&path), "{odd:?}: nothing ran");
        let _ = std::fs::remove_file(&path);
    }
}

fn numerics_is_incomplete(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap();
    text.contains("incomplete") || text.contains("\"running\"")
}

#[test]
fn a_rank_that_never_comes_is_named_after_the_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let start = Instant::now();
    let port = free_port();
    let args = args("numerics", &path, &["--rank-limit", "2"]);
    let running: Vec<Running> = [0, 1, 3].map(|r| Running::start(rank(r, 4, port, &args))).into();
    let ran: Vec<Ran> = running.into_iter().map(Running::end).collect();
    assert_eq!(codes(&ran), [1; 3], "{}", texts(&ran));
    assert!(
        ran.iter().all(|r| r.err.contains("wait for rank 2 at `rendezvous`: no word within 2 s")),
        "{}",
        texts(&ran)
    );
    assert!(start.elapsed() < LIMIT / 2);
}

/// Ranks in the middle of a long run, with what they leave where.
fn amid(size: usize, folder: &Path, command: &str) -> (Vec<Running>, PathBuf) {
    let (port, path) = (free_port(), folder.join(format!("{command}-of{size}.json")));
    let more = ["--threads", "1", "--revision", "test", "--distributed", "--output", path.to_str().unwrap()];
    let args = [&[command][..], &more].concat();
    let mut first = rank(0, size, port, &args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(first.stderr.take().unwrap());
    let mut running = vec![];
    for r in 1..size {
        running.push(Running::start(rank(r, size, port, &args)));
    }
    // The first line tells of the first operation or case; there are dozens more.
    let mut line = String::new();
    assert!(lines.read_line(&mut line).unwrap() > 0);
    running.insert(0, Running { child: first, out: Some(collect(std::io::empty())), err: Some(collect(lines)) });
    (running, path)
}

#[test]
fn a_killed_rank_ends_the_run_of_all_others_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for (size, killed, command) in [(2, 1, "numerics"), (4, 2, "bench"), (4, 0, "numerics")] {
        let (running, path) = amid(size, folder.path(), command);
        let start = Instant::now();
        running[killed].signal("-KILL");
        let ran: Vec<Ran> = running.into_iter().map(Running::end).collect();
        let expected: Vec<i32> = (0..size).map(|rank| if rank == killed { -1 } else { 1 }).collect();
        assert_eq!(codes(&ran), expected, "{}", texts(&ran));
        assert!(start.elapsed() < LIMIT / 2);
        for (rank, ran) in ran.iter().enumerate().filter(|(rank, _)| *rank != killed) {
            assert!(ran.err.contains(&format!("go on without rank {killed}")), "{}", ran.err);
            if command == "numerics" {
                let own = numerics(&rank_path(&path, rank));
                assert_eq!(own.status, Status::Incomplete);
                assert!(own.notes.iter().any(|note| note.contains("broke off")), "{:?}", own.notes);
            } else {
                assert_eq!(bench(&rank_path(&path, rank)).status, RunStatus::Running);
            }
        }
        let names = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name());
        // A temporary file of the killed rank may be left, which is what they are for; of the others none is.
        assert!(names.filter(|n| n.to_string_lossy().starts_with('.')).count() <= 1);
    }
}

#[test]
fn ctrl_c_at_one_rank_ends_all_with_130_and_whole_reports() {
    let folder = tempfile::tempdir().unwrap();
    for (size, command) in [(2, "numerics"), (4, "bench")] {
        let (running, path) = amid(size, folder.path(), command);
        running[1].signal("-INT");
        let ran: Vec<Ran> = running.into_iter().map(Running::end).collect();
        assert_eq!(codes(&ran), vec![130; size], "{}", texts(&ran));
        for path in (0..size).map(|rank| rank_path(&path, rank)).chain([path.clone()]) {
            if command == "numerics" {
                assert_eq!(numerics(&path).status, Status::Interrupted);
            } else {
                assert_eq!(bench(&path).status, RunStatus::Interrupted);
            }
        }
    }
}

/// Variables of an environment.
type Set = &'static [(&'static str, &'static str)];

#[test]
fn one_rank_is_no_distributed_run_and_several_are_no_other() {
    const HAND: Set =
        &[("RANK", "0"), ("WORLD_SIZE", "2"), ("LOCAL_RANK", "0"), ("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "9")];
    let cases: &[(&[&str], Set, Set, &str)] = &[
        (&["--distributed"], &[], &[], "by hand RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT"),
        (&["--distributed"], HAND, &[("WORLD_SIZE", "1")], "distributed with 1 rank: expected 2 to 1024"),
        (&["--distributed"], HAND, &[("RANK", "2")], "take RANK=`2`: expected an integer from 0 to 1"),
        (&["--distributed"], HAND, &[("RANK", "first")], "take RANK=`first`: expected an integer from 0 to 1"),
        (
            &["--distributed"],
            HAND,
            &[("MASTER_PORT", "0")],
            "take MASTER_PORT=`0`: expected an integer from 1 to 65535",
        ),
        (&["--distributed"], HAND, &[("MASTER_ADDR", "")], "MASTER_ADDR is not set"),
        (&["--distributed", "--list"], HAND, &[], "--list"),
        (&["--distributed", "--rank-limit", "0"], HAND, &[], "--rank-limit"),
        (&[], HAND, &[], "one of 2 ranks that torchrun started: expected --distributed"),
        (&[], &[], &[("WORLD_SIZE", "many")], "take WORLD_SIZE=`many`: expected an integer from 1 to 1024"),
        (&[], &[], &[("OMPI_COMM_WORLD_SIZE", "3")], "one of 3 ranks that Open MPI started"),
        (&[], &[("SLURM_PROCID", "0")], &[("SLURM_STEP_NUM_TASKS", "3")], "one of 3 ranks that Slurm started"),
    ];
    for name in ["numerics", "bench"] {
        for (options, set, odd, text) in cases {
            let mut command = command(&[&[name, "--tier", "smoke", "--output", "/dev/null/x.json"], *options].concat());
            let ran = finish(command.envs(set.iter().chain(*odd).copied()));
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{options:?} {odd:?}: {}", ran.err);
            assert!(ran.err.contains(text), "{options:?} {odd:?}: {}", ran.err);
        }
    }
    let suite = finish(command(&["suite"]).env("WORLD_SIZE", "2"));
    assert!(suite.code == 2 && suite.err.contains("one of 2 ranks"), "{}", suite.err);
}

#[test]
fn what_a_distributed_run_does_not_have_is_refused_by_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let cases: [(&[&str], &str); 6] = [
        (
            &["--warmup-ms", "25"],
            "use --warmup-ms in a distributed run: its counts are fixed, 5 samples to warm up and 30",
        ),
        (&["--iterations", "30"], "use --iterations in a distributed run"),
        (&["--timer", "wall"], "use --timer wall in a distributed run: `distributed` is its only timer"),
        (&["--mode", "graph"], "use --mode graph in a distributed run"),
        (&["--baseline", "cpu.native"], "use --baseline in a distributed run"),
        (&["--reference", "a.py"], "use --reference in a distributed run"),
    ];
    for (more, text) in cases {
        let ran = world(2, &args("bench", &path, more), |_| vec![]);
        assert_eq!(codes(&ran), [2; 2], "{more:?}: {}", texts(&ran));
        assert!(ran.iter().all(|r| r.err.contains(text)), "{more:?}: {}", texts(&ran));
    }
    let ran = opweave(&["bench", "--timer", "distributed", "--tier", "smoke", "--output", path.to_str().unwrap()]);
    assert!(ran.code == 2 && ran.err.contains("--distributed"), "{}", ran.err);
}

#[test]
fn a_port_in_use_is_said_by_rank_0() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let args = args("numerics", &path, &["--rank-limit", "1"]);
    let first = Running::start(rank(0, 2, port, &args)).end();
    assert_eq!(first.code, 1, "{}", first.err);
    assert!(first.err.contains(&format!("listen as rank 0 on 127.0.0.1:{port}")), "{}", first.err);
    drop(taken);
    let second = Running::start(rank(1, 2, port, &args)).end();
    assert_eq!(second.code, 1, "{}", second.err);
    assert!(second.err.contains(&format!("reach rank 0 at 127.0.0.1:{port} within 1 s")), "{}", second.err);
}
