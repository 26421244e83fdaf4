// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The activation family.

mod common;
mod gelu_and_mul;
mod gelu_tanh_and_mul;
mod silu_and_mul;

use crate::suite::{CatalogDefect, SuiteSet};

pub(super) fn add(set: &mut SuiteSet) -> Result<(), CatalogDefect> {
    set.add(gelu_tanh_and_mul::GeluTanhAndMulSuite)?;
    set.add(gelu_and_mul::GeluAndMulSuite)?;
    set.add(silu_and_mul::SiluAndMulSuite)?;
    Ok(())
}
