// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a table cannot be built from.

/// A table that cannot be built.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RotaryTableError {
    /// Features that form no pairs.
    #[error("build a rotary table: rotary_dim is {0}; legal are positive even numbers")]
    RotaryDim(usize),
    /// A number outside its legal range.
    #[error("build a rotary table: {name} is {value}; legal is {legal}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Its legal range.
        legal: String,
    },
    /// `mscale` and `mscale_all_dim` where the published rules do not agree.
    #[error(
        "build a rotary table: mscale is {mscale:?} and mscale_all_dim is {mscale_all_dim:?}; legal are both, each above 0, \
         or neither: with one alone, or with 0, published codes differ, so state attention_factor"
    )]
    Mscale {
        /// As given.
        mscale: Option<f64>,
        /// As given.
        mscale_all_dim: Option<f64>,
    },
    /// More rows than memory holds.
    #[error("build a rotary table: {max_position} rows of {rotary_dim} elements do not fit into memory")]
    Size {
        /// Rows.
        max_position: usize,
        /// Elements of a row.
        rotary_dim: usize,
    },
    /// A scaling that nobody defined here.
    #[error("build a rotary table: scaling `{name}` is unknown; known are {known}{hint}")]
    Kind {
        /// As given.
        name: String,
        /// The known ones.
        known: String,
        /// The nearest of them, in words.
        hint: String,
    },
    /// A parameter that the scaling needs.
    #[error("build a rotary table: scaling `{kind}` needs {name}")]
    Missing {
        /// The scaling.
        kind: &'static str,
        /// The parameter.
        name: &'static str,
    },
    /// A parameter that the scaling would ignore.
    #[error("build a rotary table: scaling `{kind}` has no parameter `{name}`; it has {known}")]
    Unknown {
        /// The scaling.
        kind: &'static str,
        /// As given.
        name: String,
        /// Those that it has.
        known: String,
    },
}

/// Holds that a parameter is finite and above `least`.
pub(super) fn above(name: &'static str, value: f64, least: f64) -> Result<(), RotaryTableError> {
    check(name, value, value.is_finite() && value > least, || format!("finite, > {least}"))
}

/// Holds that a parameter is finite and at least `least`.
pub(super) fn at_least(name: &'static str, value: f64, least: f64) -> Result<(), RotaryTableError> {
    check(name, value, value.is_finite() && value >= least, || format!("finite, >= {least}"))
}

/// Holds that a parameter passes a test.
pub(super) fn check(
    name: &'static str,
    value: f64,
    passes: bool,
    legal: impl FnOnce() -> String,
) -> Result<(), RotaryTableError> {
    if passes { Ok(()) } else { Err(RotaryTableError::Parameter { name, value, legal: legal() }) }
}
