// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The registry: open, then frozen, once; names are unique; declarations agree with themselves.

use std::sync::Arc;

use opweave_contract::{Erased, ImplementationDecl, OpContract, OperationDecl, Operator, Promise, Relation};
use opweave_device::DeviceKind;
use opweave_registry::{
    Domain, ExecutionMode, Kernel, KernelSpec, Linear, Needs, Registry, RegistryError, Reject, override_variable,
};

use crate::support::kernel::TestKernel;
use crate::support::operators::*;
use crate::support::world::OPERATIONS;

/// A row of the test's norm on the noop device.
pub(crate) fn row(name: &str, priority: i32) -> KernelSpec {
    KernelSpec { priority, ..KernelSpec::new(name, "native", DeviceKind::Noop, TestNorm::CONTRACTS) }
}

/// An open registry that knows the test's operations.
pub(crate) fn open() -> Registry {
    let mut registry = Registry::new();
    registry.declare(OPERATIONS).unwrap();
    registry
}

pub(crate) fn register(registry: &mut Registry, spec: KernelSpec) -> Result<(), RegistryError> {
    registry.register::<TestNorm, _>(Arc::new(TestKernel::new(spec))).map(|_| ())
}

#[test]
fn a_registration_counts_and_the_kernel_stays_usable_unwrapped() {
    let mut registry = open();
    assert_eq!(registry.generation(), 0);
    let kernel = registry.register::<TestNorm, _>(Arc::new(TestKernel::<TestNorm>::new(row("a", 3)))).unwrap();
    assert_eq!((registry.generation(), kernel.spec().priority), (1, 3));
    register(&mut registry, row("b", 1)).unwrap();
    let frozen = registry.freeze();
    assert_eq!((registry.generation(), frozen.generation()), (2, 2));
    assert!(frozen.row("a").unwrap().kernel::<TestNorm>().is_some());
    assert!(frozen.row("a").unwrap().kernel::<TestLinear>().is_none(), "the operator's type is recovered, not guessed");
    assert!(frozen.row("a").unwrap().origin().file().ends_with("registry_rules.rs"));
}

#[test]
fn a_registration_after_freezing_is_a_state_error_before_it_is_a_duplicate() {
    let mut registry = open();
    register(&mut registry, row("a", 0)).unwrap();
    registry.freeze();
    for name in ["a", "b", "not a name"] {
        let error = register(&mut registry, row(name, 0)).unwrap_err();
        assert_eq!(error, RegistryError::Frozen { name: name.to_owned() }, "{name}");
    }
    let reason = Reject::NotBuilt { kernel: "k".into(), build: "cargo xtask kernels build" };
    let late = registry.register_unavailable::<TestNorm>(row("a", 0), reason).unwrap_err();
    assert!(matches!(late, RegistryError::Frozen { .. }));
    assert!(matches!(registry.declare(OPERATIONS).unwrap_err(), RegistryError::Frozen { .. }));
    assert!(matches!(registry.declare_rows("test_norm", &[]).unwrap_err(), RegistryError::Frozen { .. }));
    assert!(matches!(registry.solution("noop.late").unwrap_err(), RegistryError::Frozen { .. }));
    assert_eq!(registry.generation(), 1);
}

#[test]
fn freezing_is_idempotent_and_there_is_no_way_back() {
    let mut registry = open();
    register(&mut registry, row("a", 0)).unwrap();
    assert_eq!(registry.snapshot().unwrap_err(), RegistryError::Open, "nothing is selected from an open registry");
    let first = registry.freeze();
    let second = registry.freeze();
    assert!(Arc::ptr_eq(&first, &second) && Arc::ptr_eq(&first, &registry.snapshot().unwrap()));
    assert_eq!(first.rows().count(), 1);
}

/// Case B08: the same row twice, another function under the name, names that differ in case.
#[test]
fn b08_a_used_name_is_refused_and_never_replaces() {
    let mut registry = open();
    register(&mut registry, row("a", 7)).unwrap();
    for second in [row("a", 7), row("a", 9)] {
        let Err(RegistryError::Duplicate { name, first, second }) = register(&mut registry, second) else {
            panic!("a duplicate was accepted");
        };
        assert_eq!(name, "a");
        assert!(first.contains("registry_rules.rs:") && second.contains("registry_rules.rs:"), "{first} {second}");
    }
    let reason = Reject::NotBuilt { kernel: "k".into(), build: "cargo xtask kernels build" };
    assert!(registry.register_unavailable::<TestNorm>(row("a", 0), reason).is_err());
    assert_eq!(registry.generation(), 1, "a refusal counts for nothing");
    register(&mut registry, row("A", 1)).unwrap();
    let frozen = registry.freeze();
    assert_eq!(frozen.row("a").unwrap().spec().priority, 7);
    assert_eq!(frozen.rows().map(|r| r.spec().name.as_str()).collect::<Vec<_>>(), ["A", "a"], "byte order");
}

#[test]
fn a_name_is_unique_over_all_operations() {
    let mut registry = open();
    register(&mut registry, row("a", 0)).unwrap();
    let spec = KernelSpec::new("a", "native", DeviceKind::Noop, TestLinear::CONTRACTS);
    let error = registry.register::<TestLinear, _>(Arc::new(TestKernel::new(spec))).map(|_| ()).unwrap_err();
    assert!(matches!(error, RegistryError::Duplicate { .. }), "{error}");
}

#[test]
fn a_row_of_an_operation_that_nobody_declared_is_refused() {
    let mut registry = Registry::new();
    let error = register(&mut registry, row("a", 0)).unwrap_err();
    assert_eq!(error, RegistryError::Undeclared { name: "a".into(), operation: "test_norm".into() });
    let rows = [ImplementationDecl { name: "x", solution: "noop.x", libraries: &[] }];
    assert!(matches!(registry.declare_rows("test_norm", &rows).unwrap_err(), RegistryError::Undeclared { .. }));
}

#[test]
fn bad_specs_are_refused_with_the_field_named() {
    type Change = fn(&mut KernelSpec);
    let cases: &[(&str, Change)] = &[
        ("name", |s| s.name = String::new()),
        ("name", |s| s.name = "two words".into()),
        ("solution", |s| s.solution = "na/tive".into()),
        ("variant", |s| s.variant = Some(String::new())),
        ("binding", |s| s.binding = "".into()),
        ("execution_modes", |s| s.modes.clear()),
        ("execution_modes", |s| s.modes.push(ExecutionMode::Eager)),
        ("contracts", |s| s.contracts.clear()),
        ("contracts", |s| s.contracts.push(s.contracts[0])),
        ("contracts", |s| s.contracts = TestLinear::CONTRACTS.to_vec()),
        ("contracts", |s| s.contracts = vec![&NEWER]),
        ("needs", |s| s.needs = Needs::default().with(Domain::Multiple("hiden_size", 8))),
        ("needs", |s| s.needs = Needs::default().with(Domain::Words("gate", vec!["silu"]))),
        ("needs", |s| s.needs = Needs::default().with(Domain::DTypes(vec!["dtype", "scale"], Vec::new()))),
        ("needs", |s| s.needs = Needs::default().with(Domain::Promise("wieght", Promise::default()))),
        ("needs", |s| s.needs = Needs::default().with(Domain::Range("hidden_size.max", 0, 1))),
        ("needs", |s| s.needs = Needs::default().with(Domain::Range("tokens.min", 0, 1))),
        ("needs", |s| s.needs = Needs::default().with(Domain::Relation(Relation::Divides("hidden_size", "groups")))),
        ("needs", |s| {
            let size = Linear { constant: 0, terms: vec![(4, "hidden_size"), (4, "tokens")] };
            s.needs = Needs::default().with(Domain::SharedMemory(size));
        }),
    ];
    for (field, change) in cases {
        let mut spec = row("a", 0);
        change(&mut spec);
        let mut registry = open();
        let Err(RegistryError::Spec(error)) = register(&mut registry, spec) else { panic!("{field} was accepted") };
        assert_eq!(error.field, *field);
        assert!(error.to_string().contains(&format!("field `{field}` is {}; expected ", error.value)), "{error}");
        assert_eq!(registry.generation(), 0);
    }
}

#[test]
fn needs_may_speak_of_promises_and_bounds() {
    let needs = Needs::default()
        .with(Domain::Range("tokens.max", 1, 1024))
        .with(Domain::Multiple("input.align", 16))
        .with(Domain::Words("out.contiguous", vec!["true"]));
    assert!(register(&mut open(), KernelSpec { needs, ..row("a", 0) }).is_ok());
}

static NEWER: OpContract = OpContract { version: 2, ..FAST };

const fn declare<O: Operator>(operation: &'static str, erased: &'static Erased<O>) -> OperationDecl {
    OperationDecl { operation, ..OperationDecl::new(erased, &[]) }
}

#[test]
fn an_operation_is_declared_once_and_its_override_variable_is_its_own() {
    let norm: OperationDecl = declare("test_norm", &Erased::<TestNorm>::NEW);
    let mut registry = open();
    let error = registry.declare(&[norm]).unwrap_err();
    assert_eq!(error, RegistryError::OperationTwice { operation: "test_norm".into() });
    // Another spelling of one variable: `test.norm` and `test_norm` are both OPWEAVE_OVERRIDE_TEST_NORM.
    let error = registry.declare(&[declare("test.norm", &Erased::<TestNorm>::NEW)]).unwrap_err();
    let variable = "OPWEAVE_OVERRIDE_TEST_NORM".to_owned();
    assert_eq!(error, RegistryError::Collision { first: "test_norm".into(), second: "test.norm".into(), variable });
    assert_eq!(override_variable("test.norm-2"), "OPWEAVE_OVERRIDE_TEST_NORM_2");
}

#[test]
fn a_refused_declaration_declares_nothing() {
    let mut registry = Registry::new();
    let twice = [
        declare("test_norm", &Erased::<TestNorm>::NEW),
        declare("test_linear", &Erased::<TestLinear>::NEW),
        declare("test_norm", &Erased::<TestNorm>::NEW),
    ];
    assert!(registry.declare(&twice).is_err());
    assert_eq!(registry.freeze().operations().count(), 0);
}

/// Case B04, as data: what a contract says of mutation and aliasing is what the signature says.
#[test]
fn b04_contracts_that_disagree_with_their_signature_are_refused() {
    static MUTATES: OpContract = OpContract { mutates: &["input"], ..FAST };
    static NO_ALIAS: OpContract = OpContract { aliases: &[], ..FAST };
    static OTHER_ALIAS: OpContract = OpContract { aliases: &[("out", "weight")], ..FAST };
    static OTHER_NAME: OpContract = OpContract { operation: "norm", ..FAST };
    type Case = (&'static [&'static OpContract], &'static str, &'static str, &'static str);
    static CASES: [Case; 4] = [
        (&[&FAST, &MUTATES], "mutates", "[\"input\"]", "[]"),
        (&[&NO_ALIAS], "aliases", "[]", "[(\"out\", \"input\")]"),
        (&[&OTHER_ALIAS], "aliases", "[(\"out\", \"weight\")]", "[(\"out\", \"input\")]"),
        (&[&OTHER_NAME], "operation", "norm", "test_norm"),
    ];
    for (contracts, which, says, signature) in CASES {
        let operation = OperationDecl { contracts, ..declare("test_norm", &Erased::<TestNorm>::NEW) };
        let error = Registry::new().declare(&[operation]).unwrap_err();
        let RegistryError::Disagreement { field, contract_says, signature_says, .. } = &error else {
            panic!("{which}: {error}");
        };
        assert_eq!((*field, contract_says.as_str(), signature_says.as_str()), (which, says, signature));
    }
    // Every operation of the workspace passes the same check.
    for family in opweave_contract::ops::FAMILIES {
        Registry::new().declare(family).unwrap();
    }
}

#[test]
fn a_row_is_declared_once() {
    let mut registry = open();
    let rows = [ImplementationDecl { name: "noop.native.test_norm.wide", solution: "noop.native", libraries: &[] }];
    let error = registry.declare_rows("test_linear", &rows).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`noop.native.test_norm.wide` is already registered, at the declaration of test_norm; \
         again at the declaration of test_linear"
    );
    let more = [ImplementationDecl { name: "noop.own.test_norm", solution: "noop.own", libraries: &[] }];
    registry.declare_rows("test_norm", &more).unwrap();
}

#[test]
fn an_unavailable_row_stays_listed_with_its_reason() {
    let mut registry = open();
    let reason = Reject::Version { library: "vendor".into(), needs: "2.0".into(), has: "1.9".into() };
    registry.register_unavailable::<TestNorm>(row("a", 0), reason.clone()).unwrap();
    register(&mut registry, row("b", 0)).unwrap();
    let frozen = registry.freeze();
    assert_eq!(frozen.generation(), 2);
    assert_eq!(frozen.row("a").unwrap().unavailable(), Some(&reason));
    assert_eq!(frozen.row("b").unwrap().unavailable(), None, "others are unaffected");
    assert!(frozen.row("a").unwrap().kernel::<TestNorm>().is_none());
}
