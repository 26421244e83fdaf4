// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The sampling family.

mod argmax;

use crate::suite::{CatalogDefect, SuiteSet};

pub(super) fn add(set: &mut SuiteSet) -> Result<(), CatalogDefect> {
    set.add(argmax::ArgmaxSuite)?;
    Ok(())
}
