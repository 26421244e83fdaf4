// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suites of opweave's operators: one file for each, under the operator's own stem.

mod activation;
mod embedding;
mod kv_cache;
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
    kv_cache::add(&mut set)?;
    rotary::add(&mut set)?;
    embedding::add(&mut set)?;
    activation::add(&mut set)?;
    normalization::add(&mut set)?;
    quantization::add(&mut set)?;
    sampling::add(&mut set)?;
    softmax::add(&mut set)?;
    Ok(set)
}

#[cfg(test)]
mod tests;
