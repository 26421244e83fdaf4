// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The catalog: every row that was declared or registered, without hardware, and no contradiction between the two.

use opweave_contract::{ImplementationDecl, Operator};
use opweave_device::DeviceKind;
use opweave_registry::{Availability, CatalogError, KernelSpec, Registry, Reject, collect_catalog};

use crate::registry_rules::{open, register, row};
use crate::support::operators::*;
use crate::support::world::runtime;

const DECLARED: [&str; 11] = [
    "cuda.native.test_norm",
    "noop.broken.test_norm",
    "noop.native.test_attention",
    "noop.native.test_linear.small",
    "noop.native.test_linear.tiled",
    "noop.native.test_norm.atomic",
    "noop.native.test_norm.eager",
    "noop.native.test_norm.wide",
    "noop.reference.test_attention",
    "noop.reference.test_linear",
    "noop.reference.test_norm",
];

#[test]
fn every_declared_row_is_listed_with_its_availability() {
    let registry = runtime().registry().unwrap();
    let rows = collect_catalog(&registry).unwrap();
    let keys: Vec<_> = rows.iter().map(|r| (r.operation, r.name)).collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    assert_eq!(keys, sorted);
    assert_eq!(rows.len(), DECLARED.len() + 1);
    for row in &rows {
        let missing = Reject::MissingLibrary { library: "vendor".into(), reason: "libvendor.so: not found".into() };
        let expected = match row.name {
            "cuda.native.test_norm" => Availability::Unavailable(Reject::NotCompiled { feature: "cuda".into() }),
            "noop.vendor.test_norm" => Availability::Unavailable(missing),
            name => {
                assert!(DECLARED.contains(&name), "{name}");
                Availability::Available
            }
        };
        assert_eq!(row.availability, expected, "{}", row.name);
        assert_eq!(row.row.is_none(), row.name.starts_with("cuda."), "{}", row.name);
    }
    let cuda = rows.iter().find(|r| r.name.starts_with("cuda")).unwrap();
    assert_eq!((cuda.device, cuda.solution.as_str()), (Some(DeviceKind::Cuda), "cuda.native"));
    let vendor = rows.iter().find(|r| r.name.starts_with("noop.vendor")).unwrap();
    assert_eq!((vendor.libraries[0].name, vendor.libraries[0].minimum), ("vendor", "2.0"));
}

#[test]
fn a_declared_row_whose_solution_is_there_must_be_registered() {
    let mut registry = open();
    register(&mut registry, row("noop.native.test_norm.wide", 0)).unwrap();
    let error = collect_catalog(&registry.freeze()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row `noop.native.test_attention` of test_attention is declared and solution noop.native is part of this build, \
         but did not register it"
    );
    // A solution that says that it is there and registers nothing is found too.
    let mut registry = open();
    registry.solution("cuda.native").unwrap();
    let error = collect_catalog(&registry.freeze()).unwrap_err();
    assert!(matches!(&error, CatalogError::NotRegistered { name, .. } if name == "cuda.native.test_norm"), "{error}");
}

#[test]
fn a_registered_row_must_be_declared() {
    let mut registry = open();
    register(&mut registry, KernelSpec { solution: "own".into(), ..row("noop.own.test_norm", 0) }).unwrap();
    let error = collect_catalog(&registry.freeze()).unwrap_err();
    let CatalogError::NotDeclared { name, operation, origin } = &error else { panic!("{error}") };
    assert_eq!((name.as_str(), operation.as_str()), ("noop.own.test_norm", "test_norm"));
    assert!(origin.contains("registry_rules.rs:"), "{origin}");

    // A solution outside the crate of the operation declares its rows itself.
    let mut registry = open();
    let own = [ImplementationDecl { name: "noop.own.test_norm", solution: "noop.own", libraries: &[] }];
    registry.declare_rows("test_norm", &own).unwrap();
    register(&mut registry, KernelSpec { solution: "own".into(), ..row("noop.own.test_norm", 0) }).unwrap();
    let frozen = registry.freeze();
    let rows = collect_catalog(&frozen).unwrap();
    assert!(rows.iter().any(|r| r.name == "noop.own.test_norm" && r.availability == Availability::Available));
}

#[test]
fn a_row_is_registered_for_the_operation_and_solution_of_its_declaration() {
    let mut registry = open();
    register(&mut registry, KernelSpec { solution: "other".into(), ..row("cuda.native.test_norm", 0) }).unwrap();
    let error = collect_catalog(&registry.freeze()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row `cuda.native.test_norm` is declared for test_norm in cuda.native and registered for test_norm in noop.other"
    );
    let mut registry = open();
    let spec = KernelSpec::new("cuda.native.test_norm", "native", DeviceKind::Cuda, TestLinear::CONTRACTS);
    let kernel = crate::support::kernel::TestKernel::<TestLinear>::new(spec);
    registry.register::<TestLinear, _>(std::sync::Arc::new(kernel)).unwrap();
    assert!(matches!(collect_catalog(&registry.freeze()).unwrap_err(), CatalogError::Mismatch { .. }));
}

/// Case B18: the catalog of the workspace is data; no solution is needed to read it.
#[test]
fn b18_the_workspaces_catalog_needs_no_solution() {
    let mut registry = Registry::new();
    for family in opweave_contract::ops::FAMILIES {
        registry.declare(family).unwrap();
    }
    let frozen = registry.freeze();
    let rows = collect_catalog(&frozen).unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let Availability::Unavailable(Reject::NotCompiled { feature }) = &row.availability else {
            panic!("{}", row.name)
        };
        assert!(row.name.starts_with(feature.as_str()), "{}", row.name);
    }
}
