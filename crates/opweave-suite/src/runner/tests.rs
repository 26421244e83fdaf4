// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use opweave_bench::report::write;
use opweave_numerics::Interrupt;

use super::*;
use crate::record::sample::{bench_report, bench_row, entry, run as planned_run};
use crate::record::{Planned, Row, Run, RunState, Status, read_run};
use crate::telemetry::{Limits, Own, Probe, ProbeError, Sighting};
use crate::workload::Entry;

/// Sees what a list says, look by look while a row runs, and nothing after its end.
struct Script(RefCell<Vec<f64>>);

impl Probe for Script {
    fn look(&mut self, own: &Own) -> Result<Sighting, ProbeError> {
        let mut left = self.0.borrow_mut();
        let work = if own.group.is_none() || left.is_empty() { 0.0 } else { left.remove(0) };
        Ok(Sighting { foreign_work: Some(work), foreign: vec!["a compiler".into()], ..Sighting::default() })
    }
}

const LABELS: [&str; 3] = ["t1_h8_f32", "t2_h8_f32", "t3_h8_f32"];

struct Scene {
    folder: tempfile::TempDir,
    entries: Vec<Entry>,
    config: Config,
    stop: Interrupt,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::new(folder.path().join("runs/r.json"));
        config.locks = Some(folder.path().join("locks"));
        (config.back_off, config.free_limit) = (Duration::from_millis(1), Duration::ZERO);
        Scene {
            folder,
            entries: LABELS.map(|label| entry("rms_norm", label)).into(),
            config,
            stop: Interrupt::default(),
        }
    }

    fn planned(&self) -> Run {
        let mut run = planned_run("r", Vec::new());
        (run.state, run.leased) = (RunState::Running, false);
        let planned = |e: &Entry| Planned { kernel: e.kernel.clone(), label: e.label.clone() };
        run.planned = self.entries.iter().map(planned).collect();
        run
    }

    /// Runs with a shell line for each row; `$REPORT` is where a good report lies, `$OUT` where it belongs.
    fn run(&self, looks: &[f64], shell: &dyn Fn(&str) -> String) -> (Run, Result<Outcome, RunError>) {
        let mut run = self.planned();
        let outcome = self.go_on(&mut run, looks, shell);
        (run, outcome)
    }

    fn go_on(&self, run: &mut Run, looks: &[f64], shell: &dyn Fn(&str) -> String) -> Result<Outcome, RunError> {
        let worker = |entry: &Entry, out: &Path, _: Known<'_>| {
            let good = self.folder.path().join(format!("{}.json", entry.label));
            let row = bench_row(&entry.kernel, &entry.label, "cpu.native.rms_norm", true, &[10.0, 10.1, 9.9]);
            write(&bench_report(vec![row]), &good).unwrap();
            let mut command = Command::new("sh");
            command.args(["-c", &shell(&entry.label)]).env("REPORT", good).env("OUT", out);
            command
        };
        let mut probe = Script(RefCell::new(looks.to_vec()));
        let ground = Ground {
            worker: &worker,
            greet: &all_there,
            probe: &mut probe,
            limits: Limits::HOST,
            stop: &self.stop,
            trusts_uuid: true,
        };
        super::run(run, &self.entries, &self.config, ground, &mut Quiet)
    }
}

const GOOD: &str = "cp $REPORT $OUT";

/// A machine that has every reference.
fn all_there(_: &str) -> Result<(), String> {
    Ok(())
}

fn statuses(run: &Run) -> Vec<Status> {
    run.rows.iter().map(|row| row.status).collect()
}

#[test]
fn a_sweep_has_a_row_for_each_entry_and_its_file_is_the_run() {
    let scene = Scene::new();
    let (run, outcome) = scene.run(&[], &|_| GOOD.into());
    assert_eq!((outcome.unwrap(), statuses(&run)), (Outcome::Good, vec![Status::Ok; 3]));
    assert!(run.leased && run.state == RunState::Complete && run.rows.iter().all(|r| r.attempts.len() == 1));
    assert_eq!(read_run(&scene.config.path).unwrap(), run);
    let logs = std::fs::read_dir(scene.config.path.with_extension("")).unwrap();
    assert!(logs.map(|e| e.unwrap().file_name()).all(|name| name.to_string_lossy().ends_with(".1.log")));
}

#[test]
fn what_one_row_measured_of_the_device_the_next_is_told() {
    let scene = Scene::new();
    let told = RefCell::new(Vec::new());
    let worker = |entry: &Entry, out: &Path, known: Known<'_>| {
        told.borrow_mut().push(known.multiply_add_gflop_per_s);
        let row = bench_row(&entry.kernel, &entry.label, "cpu.native.rms_norm", true, &[10.0, 10.1, 9.9]);
        let mut report = bench_report(vec![row]);
        let rate = known.multiply_add_gflop_per_s.unwrap_or(81.5);
        report.ceilings.get_or_insert_default().multiply_add_gflop_per_s = Some(rate);
        let good = scene.folder.path().join("told.json");
        write(&report, &good).unwrap();
        let mut command = Command::new("cp");
        command.arg(good).arg(out);
        command
    };
    let mut run = scene.planned();
    let mut probe = Script(RefCell::default());
    let ground = Ground {
        worker: &worker,
        greet: &all_there,
        probe: &mut probe,
        limits: Limits::HOST,
        stop: &scene.stop,
        trusts_uuid: true,
    };
    super::run(&mut run, &scene.entries, &scene.config, ground, &mut Quiet).unwrap();
    assert_eq!(*told.borrow(), [None, Some(81.5), Some(81.5)]);
    assert!(run.rows.iter().all(|row| row.multiply_add_gflop_per_s == Some(81.5)));
}

#[test]
fn a_reference_that_is_absent_is_asked_for_once_and_every_row_says_why() {
    let mut scene = Scene::new();
    for (at, entry) in scene.entries.iter_mut().enumerate() {
        entry.optional_references = vec!["torch_eager".into()];
        entry.references = if at == 0 { vec!["liger".into()] } else { vec!["there".into()] };
    }
    let (asked, told) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let greet = |name: &str| {
        asked.borrow_mut().push(name.to_owned());
        if name == "there" { Ok(()) } else { Err(format!("failed to find {name}")) }
    };
    let worker = |entry: &Entry, out: &Path, known: Known<'_>| {
        told.borrow_mut().push(known.absent.keys().cloned().collect::<Vec<_>>());
        let ours = bench_row(&entry.kernel, &entry.label, "cpu.native.rms_norm", true, &[10.0, 10.1, 9.9]);
        let there = bench_row(&entry.kernel, &entry.label, "there", false, &[20.0, 20.1, 19.9]);
        let good = scene.folder.path().join("there.json");
        write(&bench_report(vec![ours, there]), &good).unwrap();
        let mut command = Command::new("cp");
        command.arg(good).arg(out);
        command
    };
    let mut run = scene.planned();
    let mut probe = Script(RefCell::default());
    let (limits, stop) = (Limits::HOST, &scene.stop);
    let ground = Ground { worker: &worker, greet: &greet, probe: &mut probe, limits, stop, trusts_uuid: true };
    let config = Config { keep_going: true, ..scene.config.clone() };
    super::run(&mut run, &scene.entries, &config, ground, &mut Quiet).unwrap();
    assert_eq!(*asked.borrow(), ["liger", "there", "torch_eager"]);
    assert!(told.borrow().iter().all(|absent| *absent == ["liger", "torch_eager"]), "{told:?}");
    assert_eq!(statuses(&run), [Status::BaselineError, Status::Ok, Status::Ok]);
    assert_eq!(run.rows[0].reason.as_deref(), Some("reference liger: failed to find liger"));
    let mark = "no reference torch_eager: failed to find torch_eager";
    assert!(run.rows.iter().all(|row| row.marks.iter().any(|m| m == mark)), "{:?}", run.rows[1].marks);
    assert!((run.rows[1].ratio.unwrap() - 2.0).abs() < 1e-9);
}

#[test]
fn the_first_failure_ends_the_sweep_unless_it_is_to_go_on() {
    let mut scene = Scene::new();
    let bad = |label: &str| if label == LABELS[1] { "echo boom >&2; exit 7".into() } else { GOOD.to_owned() };
    let (run, outcome) = scene.run(&[], &bad);
    assert_eq!((outcome.unwrap(), statuses(&run)), (Outcome::Failed, vec![Status::Ok, Status::Fail]));
    assert!(run.rows[1].reason.as_ref().unwrap().contains("boom"), "{:?}", run.rows[1].reason);
    assert_eq!(run.state, RunState::Stopped);
    scene.config.keep_going = true;
    let (run, outcome) = scene.run(&[], &bad);
    assert_eq!((outcome.unwrap(), statuses(&run)), (Outcome::Failed, vec![Status::Ok, Status::Fail, Status::Ok]));
}

#[test]
fn a_report_that_lay_there_before_is_not_the_row_s() {
    let mut scene = Scene::new();
    scene.entries.truncate(1);
    let folder = scene.config.path.with_extension("");
    std::fs::create_dir_all(&folder).unwrap();
    let row = bench_row("rms_norm", LABELS[0], "cpu.native.rms_norm", true, &[10.0, 10.1, 9.9]);
    write(&bench_report(vec![row]), &folder.join(format!("rms_norm.{}.1.json", LABELS[0]))).unwrap();
    let (run, outcome) = scene.run(&[], &|_| "true".into());
    assert_eq!((outcome.unwrap(), statuses(&run)), (Outcome::Failed, vec![Status::Fail]));
}

#[test]
fn c16_a_disturbed_row_comes_again_and_its_numbers_decide_nothing() {
    let scene = Scene::new();
    // The first row's second look, after its end, sees a compiler.
    let (run, outcome) = scene.run(&[0.0, 0.9], &|_| GOOD.into());
    assert_eq!(outcome.unwrap(), Outcome::Good);
    // It went to the end of the queue.
    assert_eq!(run.rows.iter().map(|r| r.label.as_str()).collect::<Vec<_>>(), [LABELS[1], LABELS[2], LABELS[0]]);
    let tries: Vec<_> = run.rows[2].attempts.iter().map(|a| a.status).collect();
    assert_eq!(tries, [Status::Interfered, Status::Ok]);
    assert!(run.rows[2].attempts[0].reason.as_ref().unwrap().contains("a compiler"));
}

#[test]
fn a_row_that_is_disturbed_each_time_fails_with_the_reason_and_keeps_its_numbers() {
    let mut scene = Scene::new();
    scene.entries.truncate(1);
    scene.config.attempts = 3;
    let (run, outcome) = scene.run(&[0.0, 0.9, 0.0, 0.9, 0.0, 0.9], &|_| GOOD.into());
    assert_eq!((outcome.unwrap(), statuses(&run)), (Outcome::Failed, vec![Status::Interfered]));
    let row = &run.rows[0];
    assert!(row.reason.as_ref().unwrap().starts_with("others disturbed each of 3 attempts"), "{:?}", row.reason);
    assert!(row.ours().is_some());
}

#[test]
fn a_disturbance_ends_the_measurement_at_once() {
    let mut scene = Scene::new();
    scene.entries.truncate(1);
    scene.config.attempts = 1;
    let start = Instant::now();
    let (run, _) = scene.run(&[0.0, 0.9], &|_| "sleep 60".into());
    assert_eq!(statuses(&run), [Status::Interfered]);
    assert!(start.elapsed() < Duration::from_secs(30), "it was waited for");
}

#[test]
fn a_row_past_its_deadline_is_ended_with_all_that_it_started() {
    let mut scene = Scene::new();
    scene.entries.truncate(1);
    scene.entries[0].deadline_s = 0.3;
    let mark = scene.folder.path().join("pid");
    // It ignores the request to end, and so does its child.
    let shell = format!(
        "trap '' INT TERM; (trap '' INT TERM; echo $$ > /dev/null; sleep 300) & echo $! > {}; wait",
        mark.display()
    );
    let (run, outcome) = scene.run(&[], &|_| shell.clone());
    assert_eq!((outcome.unwrap(), statuses(&run)), (Outcome::Failed, vec![Status::TimedOut]));
    assert!(run.rows[0].reason.as_ref().unwrap().contains("0.3 s"), "{:?}", run.rows[0].reason);
    let pid = std::fs::read_to_string(mark).unwrap();
    // A child that was killed and not yet reaped by whoever inherited it is no running one.
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_else(|_| ") Z".into());
    assert!(state.rsplit_once(')').unwrap().1.trim().starts_with('Z'), "{state}");
}

#[test]
fn a_cancelled_run_resumes_where_it_was() {
    let scene = Scene::new();
    let mut run = scene.planned();
    scene.stop.request();
    // Nobody waits for a free device then.
    let outcome = scene.go_on(&mut run, &[], &|_| GOOD.into()).unwrap();
    assert_eq!((outcome, statuses(&run)), (Outcome::Cancelled, vec![Status::Cancelled]));
    let again = Scene { stop: Interrupt::default(), ..scene };
    let mut resumed = read_run(&again.config.path).unwrap();
    resumed.resume();
    assert!(resumed.rows.is_empty());
    resumed.rows.push(Row { elapsed_s: 77.0, ..crate::record::sample::row("rms_norm", LABELS[1], &[10.0], None) });
    let outcome = again.go_on(&mut resumed, &[], &|_| GOOD.into()).unwrap();
    assert_eq!((outcome, resumed.rows.len(), resumed.rows[0].elapsed_s), (Outcome::Good, 3, 77.0));
}

#[test]
fn without_a_lease_every_row_says_so() {
    let mut scene = Scene::new();
    scene.config.locks = None;
    let (run, _) = scene.run(&[], &|_| GOOD.into());
    assert!(!run.leased && run.rows.iter().all(|row| row.marks.iter().any(|m| m == "no lease")));
}

#[test]
fn a_report_of_another_device_is_no_measurement_of_this_one() {
    let scene = Scene::new();
    let worker = |entry: &Entry, out: &Path, _: Known<'_>| {
        let row = bench_row(&entry.kernel, &entry.label, "cpu.native.rms_norm", true, &[10.0]);
        let mut report = bench_report(vec![row]);
        report.environment.device.uuid = Some("GPU-b".into());
        let good = scene.folder.path().join("b.json");
        write(&report, &good).unwrap();
        let mut command = Command::new("cp");
        command.arg(good).arg(out);
        command
    };
    let mut run = scene.planned();
    run.device.uuid = "GPU-a".into();
    let mut probe = Script(RefCell::default());
    let ground = Ground {
        worker: &worker,
        greet: &all_there,
        probe: &mut probe,
        limits: Limits::GPU,
        stop: &scene.stop,
        trusts_uuid: false,
    };
    super::run(&mut run, &scene.entries, &scene.config, ground, &mut Quiet).unwrap();
    assert_eq!(statuses(&run), [Status::Fail]);
    assert!(run.rows[0].reason.as_ref().unwrap().contains("opened GPU-b, leased is GPU-a"), "{:?}", run.rows[0].reason);
    assert!(run.rows[0].impls.is_empty());
}

#[test]
fn a_device_that_others_use_is_not_begun_on() {
    struct Busy;
    impl Probe for Busy {
        fn look(&mut self, _: &Own) -> Result<Sighting, ProbeError> {
            Ok(Sighting { foreign_work: Some(1.0), ..Sighting::default() })
        }
    }
    struct Blind;
    impl Probe for Blind {
        fn look(&mut self, _: &Own) -> Result<Sighting, ProbeError> {
            Err(ProbeError { device: "GPU-a".into(), reason: "no permission".into() })
        }
    }
    let scene = Scene::new();
    let worker = |_: &Entry, _: &Path, _: Known<'_>| -> Command { unreachable!("nothing may start") };
    for (probe, text) in [(&mut Busy as &mut dyn Probe, "others worked at 100 %"), (&mut Blind, "sample GPU-a")] {
        let ground = Ground {
            worker: &worker,
            greet: &all_there,
            probe,
            limits: Limits::HOST,
            stop: &scene.stop,
            trusts_uuid: true,
        };
        let mut run = scene.planned();
        let error = super::run(&mut run, &scene.entries, &scene.config, ground, &mut Quiet).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_process_took_can_be_read_until_its_end_was_seen() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; exit 3"]);
    let mut child = Child::start(command, &folder.path().join("log")).unwrap();
    while !child.wait(Duration::from_millis(20)).unwrap() {}
    let stat = format!("/proc/{}/stat", child.group());
    let text = std::fs::read_to_string(&stat).unwrap();
    let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
    assert_eq!(fields[0], "Z", "it has ended, and is still there: {text}");
    assert!(fields[11].parse::<u64>().unwrap() > 0, "with the ticks that it took: {text}");
    assert!(child.wait(Duration::ZERO).unwrap(), "asked again, it is the same");
    assert_eq!((child.end(GRACE), child.status().unwrap().code()), (Ended::Itself, Some(3)));
    assert!(!std::path::Path::new(&stat).exists());
}
