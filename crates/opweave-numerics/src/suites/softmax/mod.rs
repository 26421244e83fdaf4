// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The softmax family.

mod common;
mod log_softmax;
#[expect(clippy::module_inception, reason = "the operator that gives the family its name")]
mod softmax;

use crate::suite::{CatalogDefect, SuiteSet};

pub(super) fn add(set: &mut SuiteSet) -> Result<(), CatalogDefect> {
    set.add(log_softmax::LogSoftmaxSuite)?;
    set.add(softmax::SoftmaxSuite)?;
    Ok(())
}
