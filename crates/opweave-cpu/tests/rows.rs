// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rows: complete, as declared, and proved by the suites, each by its own name.

use std::num::NonZero;
use std::sync::Arc;

use opweave_contract::ops;
use opweave_device::Device;
use opweave_device::cpu::{CpuDevice, Parallel, Pool, Serial};
use opweave_numerics::report::{Status, markdown};
use opweave_numerics::{Config, Ground, Interrupt, Mode, Silent, run, suites};
use opweave_registry::{Registry, collect_catalog};

fn registry() -> Registry {
    let mut registry = Registry::new();
    for family in ops::FAMILIES {
        registry.declare(family).expect("the declarations agree with themselves");
    }
    opweave_cpu::register(&mut registry).expect("every row is declared");
    registry
}

#[test]
fn every_declared_row_of_the_cpu_is_registered() {
    let mut registry = registry();
    let declared = ops::operations().flat_map(|o| o.implementations).filter(|row| row.name.starts_with("cpu."));
    assert_eq!(registry.generation(), declared.count() as u64);
    let registry = registry.freeze();
    let catalog = collect_catalog(&registry).unwrap();
    for operation in ops::operations() {
        for row in operation.implementations.iter().filter(|row| row.name.starts_with("cpu.")) {
            assert!(catalog.iter().any(|r| r.name == row.name), "{}", row.name);
        }
    }
}

/// The smoke tier of every suite, on every row that this host can run, with repeats and the batch invariance that the rows
/// claim.
fn numerics(mode: Mode, pool: Arc<dyn Parallel>, threads: usize) {
    let mut registry = registry();
    let registry = registry.freeze();
    let device: Arc<dyn Device> = Arc::new(CpuDevice::new(pool));
    let interrupt = Interrupt::default();
    let suites = suites::builtin().expect("the suites agree with themselves");
    let ground = Ground {
        registry: &registry,
        suites: &suites,
        device: Ok(&device),
        threads: Some(threads),
        interrupt: &interrupt,
    };
    let config = Config { mode, repeat: 3, batch_invariance: true, ..Config::default() };
    let report = run(&config, &ground, &mut Silent).expect("the run completes");
    assert_eq!(report.status, Status::Passed, "{}", markdown(&report));
}

#[test]
fn every_row_passes_its_suite() {
    numerics(Mode::Eager, Arc::new(Serial), 1);
}

#[test]
fn every_row_passes_its_suite_captured_and_on_threads() {
    let pool = Pool::new(NonZero::new(3).expect("not zero")).expect("the host has threads");
    numerics(Mode::Graph, Arc::new(pool), 3);
}
