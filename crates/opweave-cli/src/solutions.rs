// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The registry of this binary.

use std::sync::Arc;

use anyhow::Context as _;
use opweave_contract::ops::FAMILIES;
use opweave_registry::{FrozenRegistry, Registry};

use crate::exit::Failure;

/// Every operation with the solutions that are compiled in, frozen.
pub(crate) fn registry() -> Result<Arc<FrozenRegistry>, Failure> {
    let mut registry = Registry::new();
    for family in FAMILIES {
        registry.declare(family).context("failed to declare the operations")?;
    }
    Ok(registry.freeze())
}
