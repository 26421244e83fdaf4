// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Every row through the suite of its operator, eager and captured.

use opweave_contract::ops::FAMILIES;
use opweave_kernels_npu::{KERNELS, VARIABLE};
use opweave_numerics::{Config, Mode};
use opweave_runtime::{Environment, Runtime, Solution};

use crate::images::emulated;
use crate::shared::{Met, double, run, say};
use crate::validation::validate;

const SOLUTION: Solution =
    Solution { name: "npu.ascendc", register: opweave_ascendc::register, probe: opweave_device_npu::backend };

fn runtime() -> Runtime {
    let builder = FAMILIES.iter().fold(Runtime::builder(), |builder, family| builder.declare(family));
    builder.solution(SOLUTION).environment(Environment::default).build()
}

#[test]
#[ignore = "run by the other tests, in a process that has the double"]
fn the_suites() {
    let captured = std::env::var("OPWEAVE_SCRIPT_MODE").is_ok_and(|mode| mode == "graph");
    let config = Config {
        operations: KERNELS.map(|kernel| kernel.stem.to_owned()).into(),
        mode: if captured { Mode::Graph } else { Mode::Eager },
        batch_invariance: true,
        ..Config::default()
    };
    say(&validate(&runtime(), config));
}

fn passes(met: &Met, mode: &str) {
    println!("{mode}\n{}", met.said);
    assert!(!met.said.contains("bad"), "{mode}: {}", met.said);
    for kernel in KERNELS {
        assert!(met.said.contains(&format!("{}: ", kernel.stem)), "{mode}: {} did not run: {}", kernel.stem, met.said);
    }
    met.is_clean(mode);
}

/// One test for both modes, since compiling takes a while.
#[test]
fn every_kernel_passes_its_suite_eager_and_captured() {
    let Some(images) = emulated() else {
        println!("not run: there is no C++ compiler (CXX, else g++)");
        return;
    };
    let folder = images.path().to_str().unwrap();
    let suites = |mode| run("suites::the_suites", double(), &[("OPWEAVE_SCRIPT_MODE", mode), (VARIABLE, folder)]);
    std::thread::scope(|scope| {
        let captured = scope.spawn(|| suites("graph"));
        passes(&suites("eager"), "eager");
        passes(&captured.join().unwrap(), "graph");
    });
}
