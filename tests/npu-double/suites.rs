// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Suites on the double. Part of the tests of several crates.

use std::fmt::Write as _;
use std::sync::Arc;

use opweave_device::{Device, DeviceKind};
use opweave_device_npu::NpuDevice;
use opweave_numerics::report::Status;
use opweave_numerics::{Config, Ground, Interrupt, Silent, suites};
use opweave_runtime::Runtime;
use opweave_tensor::DeviceId;

/// Runs the suites that `config` asks for; a line for each operator, and one, which begins with `bad`, for each case that did not
/// come out as it should.
pub(crate) fn validate(runtime: &Runtime, config: Config) -> String {
    let registry = runtime.registry().unwrap();
    let opened: Arc<dyn Device> = Arc::new(NpuDevice::open(DeviceId::new(DeviceKind::Npu, 0)).unwrap());
    let (set, interrupt) = (suites::builtin().unwrap(), Interrupt::default());
    let ground =
        Ground { registry: &registry, suites: &set, device: Ok(&opened), threads: None, interrupt: &interrupt };
    let config = Config { device: "npu:0".to_owned(), revision: Some("test".to_owned()), ..config };
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
