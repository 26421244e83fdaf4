// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Every row through the suite of its operator, eager and captured, on the double.

use std::fmt::Write as _;
use std::sync::Arc;

use opweave_device::{Device, DeviceKind};
use opweave_device_npu::NpuDevice;
use opweave_numerics::report::Status;
use opweave_numerics::{Config, Ground, Interrupt, Mode, Silent, suites};
use opweave_tensor::DeviceId;

use crate::script::runtime;
use crate::stage::{double, run};

const OPERATIONS: [&str; 10] = [
    "embedding",
    "fused_add_rms_norm",
    "gelu_tanh_and_mul",
    "layer_norm",
    "linear",
    "log_softmax",
    "rms_norm",
    "rotary_embedding",
    "silu_and_mul",
    "softmax",
];

/// Runs the suites; a line for each operator, and one for each case that did not come out as it should.
fn validate(mode: Mode) -> String {
    let runtime = runtime();
    let registry = runtime.registry().unwrap();
    let opened: Arc<dyn Device> = Arc::new(NpuDevice::open(DeviceId::new(DeviceKind::Npu, 0)).unwrap());
    let (set, interrupt) = (suites::builtin().unwrap(), Interrupt::default());
    let ground =
        Ground { registry: &registry, suites: &set, device: Ok(&opened), threads: None, interrupt: &interrupt };
    let config = Config {
        operations: std::env::var("OPWEAVE_SCRIPT_OPERATION")
            .map_or_else(|_| OPERATIONS.map(str::to_owned).to_vec(), |one| vec![one]),
        label: std::env::var("OPWEAVE_SCRIPT_LABEL").ok(),
        device: "npu:0".to_owned(),
        mode,
        revision: Some("test".to_owned()),
        batch_invariance: true,
        repeat: 2,
        ..Config::default()
    };
    let report = opweave_numerics::run(&config, &ground, &mut Silent).unwrap();
    let mut text = String::new();
    for operation in &report.operations {
        let passed = operation.cases.iter().filter(|case| case.verdict.name() == "passed").count();
        writeln!(text, "{}: {passed} of {} passed", operation.operation, operation.cases.len()).unwrap();
        for case in operation.cases.iter().filter(|case| !case.verdict.is_acceptable()) {
            let findings: Vec<&str> = case.findings.iter().map(|f| f.text.as_str()).collect();
            writeln!(text, "bad {} {} {:?} {findings:?}", case.id, case.verdict.name(), case.verdict.reason()).unwrap();
        }
        if passed == 0 {
            writeln!(text, "bad {}: nothing passed", operation.operation).unwrap();
        }
    }
    if report.status != Status::Passed {
        writeln!(text, "bad: the run did not pass").unwrap();
    }
    text
}

#[test]
#[ignore = "run by the other tests, in a process that has the double"]
fn the_suites() {
    let captured = std::env::var("OPWEAVE_SCRIPT_MODE").is_ok_and(|mode| mode == "graph");
    let said = validate(if captured { Mode::Graph } else { Mode::Eager });
    if let Some(file) = std::env::var_os("OPWEAVE_SCRIPT_SAID") {
        std::fs::write(file, said).unwrap();
    }
}

fn passes(mode: &str) {
    let met = run("suites::the_suites", double(), &[("OPWEAVE_SCRIPT_MODE", mode)]);
    assert!(!met.said.contains("bad"), "{mode}: {}", met.said);
    OPERATIONS.iter().for_each(|name| assert!(met.said.contains(name), "{mode}: {name} did not run: {}", met.said));
    println!("{mode}\n{}", met.said);
    let rest: Vec<&str> = met.report.lines().filter(|line| *line != "end").collect();
    assert!(rest.is_empty() && met.report.contains("end"), "{mode}: {rest:?}");
}

#[test]
fn every_row_passes_its_suite_eager() {
    passes("eager");
}

#[test]
fn every_row_passes_its_suite_captured() {
    passes("graph");
}
