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
use opweave_registry::{FrozenRegistry, Registry, collect_catalog};

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

/// The rows of an operation, as its contract page shows them.
fn listed(registry: &FrozenRegistry, operation: &str) -> String {
    let mut text =
        "| row | rank | needs | deterministic | batch-invariant |\n| --- | ---: | --- | --- | --- |\n".to_owned();
    for row in registry.rows_of(operation) {
        let spec = row.spec();
        let needs = spec.needs.to_string();
        let needs = if needs.is_empty() { "nothing".to_owned() } else { needs };
        let yes = |flag| if flag { "yes" } else { "no" };
        let (name, priority) = (&spec.name, spec.priority);
        let (deterministic, invariant) = (yes(spec.deterministic), yes(spec.batch_invariant));
        text += &format!("| `{name}` | {priority} | {needs} | {deterministic} | {invariant} |\n");
    }
    text
}

#[test]
fn every_contract_page_lists_the_rows_with_their_needs() {
    const BEGIN: &str = "<!-- generated from the rows of cpu -->";
    const END: &str = "<!-- end of the rows of cpu -->";
    let registry = registry().freeze();
    for operation in ops::operations() {
        let path = format!("{}/../../docs/contracts/{}.md", env!("CARGO_MANIFEST_DIR"), operation.operation);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        let parts = text.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?)));
        let Some((head, (shown, tail))) = parts else { panic!("{path} has no part between `{BEGIN}` and `{END}`") };
        let now = format!("\n\n{}\n", listed(&registry, operation.operation));
        if std::env::var_os("OPWEAVE_UPDATE_PAGES").is_some() {
            std::fs::write(&path, format!("{head}{BEGIN}{now}{END}{tail}")).unwrap();
        } else {
            assert!(shown == now, "{path} differs from the rows: run this test once with OPWEAVE_UPDATE_PAGES=1");
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
