// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rows of this crate on a machine without images.

use opweave_contract::ops;
use opweave_registry::Registry;

fn registry() -> Registry {
    let mut registry = Registry::new();
    for family in ops::FAMILIES {
        registry.declare(family).expect("the declarations agree with themselves");
    }
    registry
}

#[test]
fn every_declared_row_of_ascend_c_is_registered() {
    let mut registry = registry();
    opweave_ascendc::register(&mut registry).expect("every row is declared");
    let frozen = registry.freeze();
    let declared = ops::operations().flat_map(|operation| operation.implementations);
    let declared: Vec<&str> = declared.map(|row| row.name).filter(|name| name.starts_with("npu.ascendc.")).collect();
    assert_eq!(declared.len(), opweave_kernels_npu::KERNELS.len());
    for (name, kernel) in declared.iter().zip(opweave_kernels_npu::KERNELS) {
        assert!(declared.contains(&format!("npu.ascendc.{}", kernel.stem).as_str()), "{}", kernel.stem);
        assert!(frozen.row(name).is_some(), "{name}");
    }
}
