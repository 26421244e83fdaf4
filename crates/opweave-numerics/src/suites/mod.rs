// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suites of opweave's operators: one file for each, under the operator's own stem.

/// The files of a family: one for each operator.
macro_rules! modules {
    ([] $family:ident: $($module:ident: $operator:ident),* $(,)?) => { $(pub(super) mod $module;)* };
}

/// Adds the suites of a family.
macro_rules! add {
    ([$set:ident] $family:ident: $($module:ident: $operator:ident),* $(,)?) => { $($set.add($family::$module::Cases)?;)* };
}

mod activation;
mod attention;
mod core_matrix;
mod embedding;
mod kv_cache;
mod linear;
mod normalization;
mod quantization;
mod rotary;
mod sampling;
mod softmax;

use crate::suite::{CatalogDefect, SuiteSet};

/// The suites of all operators that opweave declares.
///
/// # Errors
/// [`CatalogDefect`]; a test holds that there is none.
pub fn builtin() -> Result<SuiteSet, CatalogDefect> {
    let mut set = SuiteSet::new();
    opweave_contract::operators!(add set);
    Ok(set)
}
