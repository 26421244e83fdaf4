// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Runs of several ranks of which one misbehaves. Each rank is a process: this test binary again, told by its environment
//! which rank it is and what its kernel does.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use opweave_contract::ops::normalization::{RmsNorm, RmsNormArgs, RmsNormProblem};
use opweave_device::cpu::{CpuDevice, Serial};
use opweave_device::{Device, LaunchError, StreamRef};
use opweave_numerics::report::{CaseReport, FindingKind, Report, Status, rank_path, read, schema};
use opweave_numerics::{Config, Ground, Interrupt, RunError, Silent, Verdict, distributed, suites};
use opweave_ranks::{Rank, join};
use opweave_registry::{Domain, Kernel, KernelSpec, Needs, Plan, PrepareContext, PrepareError, Workspace};
use opweave_tensor::DType;

use crate::support::{ByReference, Damage, registry};

/// Names the deed of a process that is to be a rank.
const DEED: &str = "OPWEAVE_TEST_DEED";
const OUTPUT: &str = "OPWEAVE_TEST_OUTPUT";
const LIMIT: Duration = Duration::from_secs(60);

/// Right, but for what `deed` does to the calls of bf16.
struct Acting {
    right: ByReference<RmsNorm>,
    deed: String,
    interrupt: Interrupt,
}

struct ActingPlan {
    right: Arc<dyn Plan<RmsNorm>>,
    deed: String,
    interrupt: Interrupt,
}

impl Kernel<RmsNorm> for Acting {
    fn spec(&self) -> &KernelSpec {
        self.right.spec()
    }

    fn prepare(
        &self,
        problem: &RmsNormProblem,
        context: &PrepareContext<'_>,
    ) -> Result<Arc<dyn Plan<RmsNorm>>, PrepareError> {
        let deed = if problem.dtype == DType::BF16 { self.deed.clone() } else { String::new() };
        let (right, interrupt) = (self.right.prepare(problem, context)?, self.interrupt.clone());
        Ok(Arc::new(ActingPlan { right, deed, interrupt }))
    }
}

impl Plan<RmsNorm> for ActingPlan {
    unsafe fn enqueue(&self, args: &RmsNormArgs, memory: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        match self.deed.as_str() {
            "throws" => return Err(LaunchError::Refused("tired".to_owned())),
            "panics" => panic!("of all ranks this one"),
            "dies" => {
                let me = std::process::id().to_string();
                Command::new("kill").args(["-KILL", &me]).status().unwrap();
                std::thread::sleep(LIMIT);
            }
            "sleeps" => std::thread::sleep(Duration::from_secs(5)),
            "stops" => self.interrupt.request(),
            _ => {}
        }
        // SAFETY: the caller's clauses are those of this very method.
        unsafe { self.right.enqueue(args, memory, stream) }?;
        if self.deed == "computes otherwise" {
            let first = args.out.data().cast::<u16>();
            // SAFETY: clause "writable": the first element of a checked call that is not empty.
            unsafe { *first ^= 1 << 14 };
        }
        Ok(())
    }
}

/// Not a test but a rank, where the environment says so.
#[test]
fn as_a_rank() {
    let Ok(deed) = std::env::var(DEED) else { return };
    let rank = Rank::of(&|name| std::env::var(name).ok()).unwrap();
    let interrupt = Interrupt::default();
    let stops = interrupt.clone();
    let needs = match deed.as_str() {
        // 769 is no multiple of it.
        "does not apply" => Needs::default().with(Domain::Multiple("hidden_size", 8)),
        _ => Needs::default(),
    };
    let registry = registry(|registry| {
        let right = ByReference::<RmsNorm>::new("acting", Damage::None).needs(needs);
        registry.register::<RmsNorm, _>(Arc::new(Acting { right, deed: deed.clone(), interrupt: stops })).unwrap();
    });
    let device: Arc<dyn Device> = Arc::new(CpuDevice::new(Arc::new(Serial)));
    let suites = suites::builtin().unwrap();
    let ground =
        Ground { registry: &registry, suites: &suites, device: Ok(&device), threads: Some(1), interrupt: &interrupt };
    let config = Config {
        operations: vec!["rms_norm".to_owned()],
        label: Some("t3_h769_*".to_owned()),
        revision: Some("test".to_owned()),
        output: Some(std::env::var(OUTPUT).unwrap().into()),
        ..Config::default()
    };
    let limit = if deed.contains("sleeps") || std::env::var("OPWEAVE_TEST_SHORT").is_ok() { 1 } else { 30 };
    let mut member = join(&rank, Duration::from_secs(limit)).unwrap();
    let outcome = distributed::run(&config, &ground, &mut member, &mut Silent);
    let code = match &outcome {
        Ok(report) => report.status.exit_code(),
        Err(error) => error.exit_code(),
    };
    if let Err(error) = &outcome {
        eprintln!("rank {}: {error}", rank.rank);
    }
    match outcome {
        Ok(_) | Err(RunError::Disagreement(_) | RunError::Record { .. }) => member.leave(),
        Err(_) => drop(member),
    }
    std::process::exit(i32::from(code));
}

/// What ranks with these deeds come to: their codes and the folder's report of all.
fn world(deeds: &[&str], folder: &Path) -> (Vec<Option<i32>>, Option<Report>) {
    let path = folder.join("report.json");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let start = |(rank, deed): (usize, &&str)| -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "ranks::as_a_rank", "--nocapture", "--test-threads", "1"]);
        command.env(DEED, deed).env(OUTPUT, &path).env("MASTER_ADDR", "127.0.0.1");
        if deeds.contains(&"sleeps") {
            command.env("OPWEAVE_TEST_SHORT", "1");
        }
        let numbers =
            [("RANK", rank), ("LOCAL_RANK", rank), ("WORLD_SIZE", deeds.len()), ("MASTER_PORT", usize::from(port))];
        for (name, value) in numbers {
            command.env(name, value.to_string());
        }
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let mut children: Vec<Child> = deeds.iter().enumerate().map(start).collect();
    let begun = Instant::now();
    let mut codes = Vec::new();
    for child in &mut children {
        let code = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status.code(),
                None if begun.elapsed() > LIMIT => {
                    child.kill().unwrap();
                    panic!("a rank hangs: {deeds:?}");
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        codes.push(code);
    }
    (codes, path.exists().then(|| read(&path).unwrap()))
}

fn cases(report: &Report) -> (Vec<&CaseReport>, Vec<&CaseReport>) {
    report.operations[0].cases.iter().partition(|case| case.label.ends_with("bf16"))
}

#[test]
fn what_one_rank_comes_to_is_everybodys_verdict_and_the_run_goes_on() {
    let table =
        [("throws", "error", "tired"), ("panics", "error", "of all ranks"), ("computes otherwise", "failed", "")];
    for (size, place) in [(2, 1), (4, 2), (2, 0)] {
        for (deed, verdict, why) in table {
            let folder = tempfile::tempdir().unwrap();
            let mut deeds = vec!["right"; size];
            deeds[place] = deed;
            let (codes, report) = world(&deeds, folder.path());
            assert_eq!(codes, vec![Some(1); size], "{deeds:?}");
            let report = report.unwrap();
            assert_eq!(report.status, Status::Failed);
            let (hit, others) = cases(&report);
            assert!(!hit.is_empty() && !others.is_empty());
            for case in hit {
                assert_eq!(case.verdict.name(), verdict, "{deeds:?}: {:?}", case.verdict);
                let text = format!("{:?} {:?}", case.verdict, case.findings);
                assert!(text.contains(why) && text.contains(&format!("rank {place}")), "{text}");
                assert_eq!(case.findings[0].kind, FindingKind::Ranks);
                let names: Vec<&str> = case.ranks.iter().map(|r| r.verdict.name()).collect();
                let mut expected = vec!["passed"; size];
                expected[place] = if deed == "computes otherwise" { "failed" } else { verdict };
                assert_eq!(names, expected);
            }
            assert!(others.iter().all(|case| case.verdict == Verdict::Passed));
            for rank in 0..size {
                let own = read(&rank_path(&folder.path().join("report.json"), rank)).unwrap();
                assert_eq!(own.status, if rank == place { Status::Failed } else { Status::Passed });
            }
            let validator = jsonschema::validator_for(&schema()).unwrap();
            let value = serde_json::to_value(&report).unwrap();
            assert!(validator.is_valid(&value), "{:?}", validator.iter_errors(&value).next().map(|e| e.to_string()));
        }
    }
}

#[test]
fn a_case_that_applies_on_some_ranks_only_has_failed() {
    let folder = tempfile::tempdir().unwrap();
    let (codes, report) = world(&["right", "does not apply"], folder.path());
    assert_eq!(codes, [Some(1); 2]);
    let report = report.unwrap();
    for case in &report.operations[0].cases {
        let apart = matches!(case.ranks[1].verdict, Verdict::NotApplicable { .. });
        assert_eq!(case.verdict, if apart { Verdict::Failed } else { Verdict::Passed });
        assert!(!apart || case.findings[1].text.contains("rank 1: not_applicable"), "{:?}", case.findings);
    }
    assert!(report.counts.failed > 0);
    // Everywhere is another matter, though there is nothing then that passed.
    let folder = tempfile::tempdir().unwrap();
    let (codes, report) = world(&["does not apply", "does not apply"], folder.path());
    assert_eq!(codes, [Some(1); 2]);
    let counts = report.unwrap().counts;
    assert!(counts.not_applicable > 0 && counts.not_applicable == counts.total(), "{counts:?}");
}

#[test]
fn a_rank_that_dies_within_a_case_is_noticed_and_what_was_judged_is_kept() {
    for (deeds, expected) in [
        (&["right", "dies"][..], &[Some(1), None][..]),
        (&["right", "right", "dies", "right"], &[Some(1), Some(1), None, Some(1)]),
        (&["dies", "right"], &[None, Some(1)]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (codes, report) = world(deeds, folder.path());
        assert_eq!(codes, expected, "{deeds:?}");
        let report = report.unwrap();
        assert_eq!(report.status, Status::Incomplete);
        if deeds[0] != "dies" {
            assert!(report.notes.iter().any(|note| note.contains("broke off")), "{:?}", report.notes);
        }
    }
}

#[test]
fn a_rank_that_is_silent_past_the_deadline_ends_the_run_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let (codes, report) = world(&["right", "right", "sleeps"], folder.path());
    assert_eq!(codes, [Some(1); 3]);
    let report = report.unwrap();
    let note = report.notes.iter().find(|note| note.contains("broke off")).unwrap();
    assert!(note.contains("wait for rank 2 at `rms_norm/t3_h769_") && note.contains("within 1 s"), "{note}");
}

#[test]
fn a_rank_that_is_stopped_stops_all() {
    let folder = tempfile::tempdir().unwrap();
    let (codes, report) = world(&["right", "stops", "right"], folder.path());
    assert_eq!(codes, [Some(130); 3]);
    assert_eq!(report.unwrap().status, Status::Interrupted);
}

#[test]
fn a_rank_that_cannot_write_its_report_keeps_all_from_beginning() {
    let folder = tempfile::tempdir().unwrap();
    // The place of rank 1's report is a folder.
    let path = folder.path().join("report.json");
    std::fs::create_dir_all(rank_path(&path, 1).join("x")).unwrap();
    let (codes, report) = world(&["right", "right"], folder.path());
    assert_eq!(codes, [Some(1); 2]);
    assert!(report.is_none_or(|report| report.counts.total() == 0 && report.status == Status::Incomplete));
}
