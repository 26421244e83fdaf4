// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rows: complete, as declared, and proved by the suites, each by its own name.

use std::num::NonZero;
use std::sync::Arc;

use opweave_contract::ops;
use opweave_device::Device;
use opweave_device::cpu::{CpuDevice, Parallel, Pool, Serial};
use opweave_numerics::harness::{How, PrepareOn};
use opweave_numerics::input::{Generator, Grade};
use opweave_numerics::report::{Status, markdown};
use opweave_numerics::{Config, Ground, Interrupt, Mode, Silent, Tier, run, suites};
use opweave_registry::{ExecutionMode, FrozenRegistry, Registry, collect_catalog};

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

#[test]
fn a_twin_of_a_plan_that_packs_gets_the_plain_weight_once_something_asks_for_it() {
    let (registry, suites) = (registry().freeze(), suites::builtin().unwrap());
    let cases = suites.get("linear_wna16").unwrap().cases(&[]).unwrap();
    let case = cases.iter().find(|case| case.info().tier == Tier::Smoke).expect("a small case");
    let source = case.fixture(&Generator::new(7, Grade::Normal, None).unwrap()).unwrap();
    let device: Arc<dyn Device> = Arc::new(CpuDevice::new(Arc::new(Serial)));
    let prepare = |row| {
        let (row, mode) = (registry.row(row).unwrap(), ExecutionMode::Eager);
        let generation = registry.generation();
        source.prepare(&PrepareOn { device: &device, row, mode, generation, considered: &[] }).unwrap()
    };
    let (packs, plain) = (prepare("cpu.native.linear_wna16.portable"), prepare("cpu.reference.linear_wna16"));
    let stream = device.stream().unwrap();
    let own = packs.twin().unwrap();
    // What reads the weight as it was drawn, and what packs it for itself, on the memory of one that does without.
    for beside in [plain.twin_on(&*own).unwrap(), packs.twin_on(&*own).unwrap(), own.twin().unwrap()] {
        beside.launch(stream.borrow()).unwrap();
        stream.synchronize().unwrap();
    }
    // Validation loads every input anew and packs.
    let how = How { graph: false, repeat: 1, batch_invariance: false, watch: &|| Ok(()) };
    for mut twin in [packs.twin().unwrap(), own, plain.twin_on(&*packs.twin().unwrap()).unwrap()] {
        let judgement = twin.validate(&how).unwrap();
        assert!(judgement.findings.is_empty() && !judgement.leaves.is_empty(), "{judgement:?}");
    }
}
