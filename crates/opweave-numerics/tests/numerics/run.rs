// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A run as a whole: what is asked for, what runs, what is reported.

use std::io::Write;
use std::sync::Arc;

use crate::support::{ByReference, Damage, register_all, registry, run_on, try_run_on};
use opweave_contract::ops::normalization::*;
use opweave_contract::{Operator, Promise};
use opweave_device::cpu::{CpuDevice, Serial};
use opweave_device::{Device, DeviceKind};
use opweave_numerics::input::Grade;
use opweave_numerics::report::{CaseReport, ConsideredVerdict, Status, read, schema};
use opweave_numerics::suite::{CaseInfo, SuiteSet};
use opweave_numerics::{Config, Ground, Interrupt, Progress, RunError, Silent, Verdict, plan, run, suites};
use opweave_registry::{Domain, FrozenRegistry, KernelSpec, Needs, Reject};
use opweave_tensor::DType;

fn config(operations: &[&str], label: &str) -> Config {
    Config {
        operations: operations.iter().map(|o| (*o).to_owned()).collect(),
        label: (!label.is_empty()).then(|| label.to_owned()),
        revision: Some("test".to_owned()),
        ..Config::default()
    }
}

fn honest() -> Arc<FrozenRegistry> {
    registry(|registry| register_all(registry, "honest", Damage::None))
}

fn refusal(config: &Config) -> RunError {
    try_run_on(&honest(), &suites::builtin().unwrap(), config).unwrap_err()
}

#[test]
fn unknown_names_are_usage_errors_with_the_nearest_spelling() {
    let cases = [
        (config(&["rms_nrom"], ""), "did you mean `rms_norm`"),
        (config(&["rms_norm"], "t3_h769_bf61"), "did you mean `t3_h769_bf16`"),
        (Config { implementation: Some("cpu.test.rms_norm.honset".into()), ..config(&["rms_norm"], "") }, "honest`?"),
        (
            Config { suite_arguments: vec![("hiddensize".into(), "3".into())], ..config(&["rms_norm"], "") },
            "did you mean `hidden_size`",
        ),
        (
            Config { suite_arguments: vec![("hidden-size".into(), "0".into())], ..config(&["rms_norm"], "") },
            "an integer from 1",
        ),
        (Config { repeat: 0, ..config(&["rms_norm"], "") }, "1 or more"),
        (Config { grade: Grade::Real, ..config(&["rms_norm"], "") }, "needs a safetensors file"),
        (Config { tensors: Some("no/such.safetensors".into()), ..config(&["rms_norm"], "") }, "no/such.safetensors"),
    ];
    for (config, text) in cases {
        let error = refusal(&config);
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(error.exit_code(), 2, "{error}");
    }
}

#[test]
fn an_implementation_is_asked_for_by_name_by_solution_or_with_its_device() {
    for (value, rows) in
        [("cpu.test.rms_norm.honest", 1), ("test", 2), ("cpu.test", 2), (" cpu.test ", 2), ("other", 1)]
    {
        let registry = registry(|registry| {
            register_all(registry, "honest", Damage::None);
            let second = ByReference::<RmsNorm>::new("second", Damage::None);
            registry.register::<RmsNorm, _>(Arc::new(second)).unwrap();
            let other = ByReference::<RmsNorm>::new("third", Damage::None).solution("other");
            registry.register::<RmsNorm, _>(Arc::new(other)).unwrap();
        });
        let config = Config { implementation: Some(value.into()), ..config(&["rms_norm"], "t3_h769_bf16") };
        let report = run_on(&registry, &config);
        assert_eq!(report.counts.passed, rows, "{value}");
        assert_eq!(report.counts.total(), rows, "{value}");
    }
    // With all operations, those that lack it are left alone.
    let registry = registry(|registry| {
        register_all(registry, "honest", Damage::None);
        let other = ByReference::<RmsNorm>::new("third", Damage::None).solution("other");
        registry.register::<RmsNorm, _>(Arc::new(other)).unwrap();
    });
    let config = Config { implementation: Some("other".into()), ..config(&[], "t3_h769_bf16") };
    let report = run_on(&registry, &config);
    assert_eq!((report.operations.len(), report.counts.passed, report.status), (1, 1, Status::Passed));
}

#[test]
fn without_its_device_nothing_runs_and_that_is_no_success() {
    let (registry, suites, interrupt) = (honest(), suites::builtin().unwrap(), Interrupt::default());
    let reason = "libcuda.so.1 is not installed";
    let ground =
        Ground { registry: &registry, suites: &suites, device: Err(reason), threads: None, interrupt: &interrupt };
    let config = Config { device: "cuda:0".into(), ..config(&["rms_norm"], "t3_*") };
    let report = run(&config, &ground, &mut Silent).unwrap();
    assert!(report.counts.not_run > 20 && report.counts.total() == report.counts.not_run);
    assert_eq!((report.status, report.status.exit_code()), (Status::Failed, 1));
    assert_eq!(report.operations[0].cases[0].verdict, Verdict::NotRun { reason: reason.into() });
}

#[test]
fn rows_that_do_not_apply_and_rows_that_are_not_here_are_told_apart() {
    let registry = registry(|registry| {
        registry.register::<RmsNorm, _>(Arc::new(ByReference::<RmsNorm>::new("any", Damage::None))).unwrap();
        let eights = Needs::default().with(Domain::Multiple("hidden_size", 8));
        let eights = ByReference::<RmsNorm>::new("eights", Damage::None).needs(eights);
        registry.register::<RmsNorm, _>(Arc::new(eights)).unwrap();
        let features = Needs::default().features(&["warp-drive"]);
        let fast = ByReference::<RmsNorm>::new("fast", Damage::None).needs(features);
        registry.register::<RmsNorm, _>(Arc::new(fast)).unwrap();
        let spec = KernelSpec::new("cpu.test.rms_norm.unbuilt", "test", DeviceKind::Cpu, RmsNorm::CONTRACTS);
        let reason = Reject::NotCompiled { feature: "extra".to_owned() };
        registry.register_unavailable::<RmsNorm>(spec, reason).unwrap();
        let floor = ByReference::<RmsNorm>::new("floor", Damage::None).solution("reference");
        registry.register::<RmsNorm, _>(Arc::new(floor)).unwrap();
    });
    let odd = config(&["rms_norm"], "t3_h769_bf16");
    let verdicts = |config: &Config| {
        let report = run_on(&registry, config);
        let name =
            |case: &CaseReport| case.implementation.as_ref().unwrap().name.rsplit('.').next().unwrap().to_owned();
        let cases = report.operations[0].cases.iter();
        (cases.map(|c| (name(c), c.verdict.name())).collect::<Vec<_>>(), report)
    };
    let (all, report) = verdicts(&odd);
    assert_eq!(all, [("any".into(), "passed"), ("eights".into(), "not_applicable")]);
    assert_eq!(report.status, Status::Passed);
    let selection = &report.operations[0].selection[0];
    assert_eq!(selection.considered.len(), 5, "every row is in the report");
    let reason = |name: &str| {
        let row = selection.considered.iter().find(|row| row.name.ends_with(name)).unwrap();
        match &row.verdict {
            ConsideredVerdict::Rejected { reason } => reason.clone(),
            ConsideredVerdict::Eligible { .. } => "eligible".to_owned(),
        }
    };
    assert!(reason("eights").contains("769") && reason("fast").contains("warp-drive"), "{selection:?}");
    assert_eq!((reason("any"), reason("floor")), ("eligible".into(), "eligible".into()));
    for (name, verdict) in [
        ("any", "passed"),
        ("eights", "not_applicable"),
        ("fast", "not_run"),
        ("unbuilt", "not_run"),
        ("floor", "mistrusted"),
    ] {
        let named = Config { implementation: Some(format!("cpu.test.rms_norm.{name}")), ..odd.clone() };
        let (cases, report) = verdicts(&named);
        assert_eq!(cases, [(name.to_owned(), verdict)]);
        assert_eq!(report.status == Status::Passed, verdict == "passed", "{name}");
    }
}

#[test]
fn needs_generate_the_cases_on_both_sides_of_their_boundaries() {
    let needs = Needs::default().with(Domain::Multiple("hidden_size", 16)).with(Domain::Range("hidden_size", 32, 256));
    let registry = registry(|registry| {
        let narrow = ByReference::<RmsNorm>::new("narrow", Damage::None).needs(needs);
        registry.register::<RmsNorm, _>(Arc::new(narrow)).unwrap();
    });
    let report = run_on(&registry, &config(&["rms_norm"], "boundary_*"));
    let mut sizes = Vec::new();
    for case in &report.operations[0].cases {
        let size: usize = case.parameters["hidden_size"].parse().unwrap();
        let inside = size.is_multiple_of(16) && (32..=256).contains(&size);
        assert_eq!(case.verdict.name(), if inside { "passed" } else { "not_applicable" }, "{size}");
        sizes.push(size);
    }
    assert_eq!(sizes, [15, 16, 17, 31, 32, 33, 256, 257]);
    assert_eq!(report.status, Status::Passed);
    // A row without needs has no boundaries.
    let error = refusal(&config(&["rms_norm"], "boundary_*"));
    assert!(matches!(error, RunError::Label { .. }), "{error}");
}

#[test]
fn a_promise_is_kept_exactly() {
    let needs =
        Needs::default().with(Domain::Promise("input", Promise { alignment: 16, contiguous: true, constant: false }));
    let registry = registry(|registry| {
        let aligned = ByReference::<RmsNorm>::new("aligned", Damage::None).needs(needs);
        registry.register::<RmsNorm, _>(Arc::new(aligned)).unwrap();
    });
    let report = run_on(&registry, &config(&["rms_norm"], "promise_*"));
    let case = &report.operations[0].cases[0];
    assert_eq!(case.verdict, Verdict::Passed, "{:?}", case.verdict);
    assert_eq!(case.parameters["input.shift"], "8", "16 bytes of bf16: aligned to 16 and not to 32");
}

/// Stops the run when its third case begins.
struct StopAtThird<'a> {
    interrupt: &'a Interrupt,
    begun: usize,
    judged: usize,
    finished: bool,
}

impl Progress for StopAtThird<'_> {
    fn case(&mut self, _: &str, _: &str, _: &str) {
        self.begun += 1;
        if self.begun == 3 {
            self.interrupt.request();
        }
    }
    fn judged(&mut self, _: &str, _: &CaseReport) {
        self.judged += 1;
    }
    fn finished(&mut self) {
        self.finished = true;
    }
}

#[test]
fn an_interrupt_keeps_what_was_judged() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("report.json");
    let (registry, suites, interrupt) = (honest(), suites::builtin().unwrap(), Interrupt::default());
    let device: Arc<dyn Device> = Arc::new(CpuDevice::new(Arc::new(Serial)));
    let ground =
        Ground { registry: &registry, suites: &suites, device: Ok(&device), threads: Some(1), interrupt: &interrupt };
    let config = Config { output: Some(output.clone()), ..config(&["rms_norm"], "") };
    let mut progress = StopAtThird { interrupt: &interrupt, begun: 0, judged: 0, finished: false };
    let report = run(&config, &ground, &mut progress).unwrap();
    assert_eq!((progress.judged, progress.finished), (2, true), "the case in progress is dropped");
    assert_eq!((report.status, report.status.exit_code(), report.counts.total()), (Status::Interrupted, 130, 2));
    let kept = read(&output).unwrap();
    assert_eq!((kept.status, kept.counts.passed), (Status::Interrupted, 2));
}

#[test]
fn a_case_over_its_limit_is_timed_out() {
    let config = Config { case_limit_ms: 0, ..config(&["rms_norm"], "t3_h4097_f32") };
    let report = run_on(&honest(), &config);
    assert_eq!(report.operations[0].cases[0].verdict, Verdict::TimedOut { limit_ms: 0 });
    assert_eq!(report.status, Status::Failed);
}

#[test]
fn a_report_of_a_real_run_obeys_the_committed_schema_and_says_how_to_repeat_each_case() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("report.json");
    let config = Config { output: Some(output.clone()), ..config(&["layer_norm"], "t4_h96_*") };
    let report = run_on(&honest(), &config);
    let text = std::fs::read_to_string(&output).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let case = &report.operations[0].cases[0];
    let wanted = format!("opweave numerics --operation layer_norm --label {} --device cpu", case.label);
    assert!(case.reproduce.starts_with(&wanted), "{}", case.reproduce);
    assert!(case.reproduce.contains("--implementation cpu.test.layer_norm.honest"));
    assert!(case.leaves[0].tolerance.loosened.is_some(), "a loosened tolerance says so");
    let markdown = std::fs::read_to_string(output.with_extension("md")).unwrap();
    assert!(markdown.starts_with("# Numerics: passed"), "{markdown}");
}

#[test]
fn real_rows_reach_the_kernel_and_are_named_in_the_report() {
    use safetensors::{Dtype, tensor::TensorView};
    let embedding: Vec<u8> = (0..50 * 576_u32)
        .flat_map(|i| half::bf16::from_f32(((i * 7919) % 1009) as f32 / 504.0 - 1.0).to_bits().to_le_bytes())
        .collect();
    let weight: Vec<u8> = (0..576).flat_map(|i| (1.0 + i as f32 / 576.0).to_le_bytes()).collect();
    let views = [
        ("embed_tokens", TensorView::new(Dtype::BF16, vec![50, 576], &embedding).unwrap()),
        ("input_layernorm", TensorView::new(Dtype::F32, vec![576], &weight).unwrap()),
    ];
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&safetensors::serialize(views, None).unwrap()).unwrap();
    let real = |path: std::path::PathBuf| Config {
        grade: Grade::Real,
        tensors: Some(path),
        ..config(&["rms_norm"], "smollm2_135m_t7_*")
    };
    let report = run_on(&honest(), &real(file.path().to_owned()));
    let case = &report.operations[0].cases[0];
    assert_eq!(case.verdict, Verdict::Passed);
    let origins: Vec<String> = case.inputs.iter().map(|i| format!("{}: {}", i.argument, i.origin)).collect();
    assert!(origins[0].starts_with("input: embed_tokens (bf16), 7 rows from row "), "{origins:?}");
    assert!(origins[1].starts_with("weight: input_layernorm (f32)"), "{origins:?}");
    // The real model, where it was fetched.
    let Some(folder) = std::env::var_os("OPWEAVE_MODEL_DIR") else {
        println!("not run: OPWEAVE_MODEL_DIR names no model");
        return;
    };
    let report = run_on(&honest(), &real(std::path::Path::new(&folder).join("model.safetensors")));
    assert_eq!(report.operations[0].cases[0].verdict, Verdict::Passed);
}

#[test]
fn suite_arguments_replace_the_cases() {
    let arguments = vec![("tokens".to_owned(), "2".to_owned()), ("hidden-size".to_owned(), "77".to_owned())];
    let config = Config { suite_arguments: arguments, ..config(&["rms_norm"], "") };
    let report = run_on(&honest(), &config);
    assert!(report.operations[0].cases.iter().all(|case| case.label.starts_with("t2_h77_")));
    assert_eq!((report.counts.passed, report.status), (16, Status::Passed));
    assert!(report.operations[0].cases[0].reproduce.contains("--tokens 2 --hidden-size 77"));
}

/// How many rows a case has, or sequences where each has a row.
fn rows(case: &CaseInfo) -> Option<&String> {
    case.parameters.get("tokens").or_else(|| case.parameters.get("sequences"))
}

/// The model whose sizes a case has: its name begins the label.
fn model(label: &str) -> Option<&str> {
    ["_t1_", "_t9_", "_around_blocks"].iter().find_map(|sizes| label.split_once(sizes)).map(|(model, _)| model)
}

#[test]
fn planning_prepares_nothing_and_needs_no_device() {
    let (registry, suites, interrupt) = (honest(), suites::builtin().unwrap(), Interrupt::default());
    let ground =
        Ground { registry: &registry, suites: &suites, device: Err("none"), threads: None, interrupt: &interrupt };
    let planned = plan(&Config::default(), &ground).unwrap();
    assert_eq!(planned.len(), crate::support::operations().len());
    assert!(planned.iter().all(|operation| operation.tasks() > 100));
    let mut seen = std::collections::BTreeSet::new();
    for case in planned.iter().flat_map(|operation| &operation.cases) {
        assert!(seen.insert(case.info.id(5309)), "{} twice", case.info.id(5309));
        assert!(case.info.parameters.contains_key("dtype") && rows(&case.info).is_some());
    }
}

#[test]
fn a_suite_of_another_crate_joins_and_a_second_one_does_not() {
    let mut set = SuiteSet::new();
    set.add(crate::support::TinySuite).unwrap();
    let error = set.add(crate::support::TinySuite).unwrap_err().to_string();
    assert_eq!(error, "operation `l2_norm` has two suites");
    set.check().unwrap();
    let report = try_run_on(&honest(), &set, &Config { revision: Some("test".into()), ..Config::default() }).unwrap();
    assert_eq!((report.operations.len(), report.counts.passed), (1, 1));
    let error = SuiteSet::new().add(crate::support::Colliding).unwrap_err().to_string();
    assert!(error.contains("`seed`") && error.contains("collides"), "{error}");
    let mut twice = SuiteSet::new();
    twice.add(crate::support::TwoLabels).unwrap();
    assert!(twice.check().unwrap_err().to_string().contains("the label `t2_h8_f32` twice"));
}

#[test]
fn every_operator_has_models_modes_and_edges_in_its_suite() {
    let set = suites::builtin().unwrap();
    for operation in crate::support::operations() {
        let suite = set.get(operation.operation).expect("each catalogue operator ships a suite");
        let cases: Vec<_> = suite.cases(&[]).unwrap().iter().map(|case| case.info()).collect();
        let has = |what: &str, test: &dyn Fn(&CaseInfo) -> bool| {
            assert!(cases.iter().any(test), "{} has no case: {what}", operation.operation);
        };
        let models: std::collections::BTreeSet<&str> = cases.iter().filter_map(|c| model(&c.label)).collect();
        let heads = cases.iter().filter(|c| c.label.contains("_head_t")).count();
        assert!(models.len() + heads / 4 >= 4, "{}: {models:?}", operation.operation);
        for contract in operation.contracts {
            let modes = suite.cases(&[]).unwrap();
            assert!(modes.iter().any(|case| case.problem().contract() == *contract), "{}", contract.label());
        }
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            has(dtype.name(), &|c| c.parameters["dtype"] == dtype.name());
        }
        has("no rows", &|c| rows(c).is_some_and(|rows| rows == "0"));
        has("strided", &|c| c.parameters.contains_key("row_gap"));
        has("shifted", &|c| c.parameters.get("shift").is_some_and(|s| s == "1"));
        has("special", &|c| c.grade == Some(Grade::Special) || c.label.contains("exceptional"));
        has("past 2^31", &|c| c.label.contains("past_2_31"));
        if !opweave_contract::ops::normalization::OPERATIONS.iter().any(|o| o.operation == operation.operation) {
            continue;
        }
        has("one element", &|c| c.parameters["hidden_size"] == "1");
        has("769", &|c| c.parameters["hidden_size"] == "769");
        if operation.contracts.iter().any(|contract| !contract.aliases.is_empty()) {
            has("in place", &|c| c.parameters.contains_key("out.alias"));
        }
        has("wide", &|c| c.grade == Some(Grade::Wide));
        has("huge", &|c| c.label.ends_with("_huge"));
        has("tiny", &|c| c.label.ends_with("_tiny"));
        has("past 2^31", &|c| c.label.ends_with("bf16_past_2_31"));
        let bench = suite.bench_cases(&[]).unwrap();
        for label in ["t16_h4096_bf16", "t16_h4096_f32", "t4096_h4096_bf16"] {
            assert!(bench.iter().any(|case| case.info().label == label), "{} {label}", operation.operation);
        }
    }
}
