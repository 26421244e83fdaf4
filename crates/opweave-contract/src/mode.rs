// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Contracts: what exactly an operation computes, value-compared.

use std::fmt;

use opweave_tensor::DType;

/// What a value is rounded to at one point of a computation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum RoundTo {
    /// The dtype of the activation.
    Activation,
    /// The dtype of the output.
    Output,
    /// A fixed dtype.
    Fixed(DType),
}

impl fmt::Display for RoundTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RoundTo::Activation => f.write_str("the activation's dtype"),
            RoundTo::Output => f.write_str("the output's dtype"),
            RoundTo::Fixed(dtype) => dtype.fmt(f),
        }
    }
}

/// One rounding of an intermediate value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rounding {
    /// The value that is rounded, in the words of the contract page.
    pub value: &'static str,
    /// What it is rounded to, to nearest with ties to even.
    pub to: RoundTo,
}

/// Where the multiplication by a weight happens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum MultiplyIn {
    /// In f32, before the one rounding.
    F32,
    /// In the dtype of the activation, after the normalised value was rounded to it.
    Activation,
}

/// What happens to a value outside the range of its output.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Saturation {
    /// It becomes an infinity, as IEEE rounding says.
    None,
    /// It becomes the largest finite value.
    Finite,
}

/// The order of arithmetic that implementations of a contract agree on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NumericalMode {
    /// The words of the problem that pick this mode, such as `weight_multiply=f32`.
    pub name: &'static str,
    /// The dtype of sums and intermediate values.
    pub accumulation: DType,
    /// Every rounding before the last one.
    pub roundings: &'static [Rounding],
    /// The dtype of the weight multiply, where there is one.
    pub weight_multiply: Option<MultiplyIn>,
    /// What happens out of range.
    pub saturation: Saturation,
}

/// What an operation means. Two implementations share a contract only if every field is equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OpContract {
    /// The operation.
    pub operation: &'static str,
    /// Counts changes of meaning, from 1.
    pub version: u32,
    /// Arguments written besides fresh outputs, in order.
    pub mutates: &'static [&'static str],
    /// Pairs of output and input that may share storage exactly.
    pub aliases: &'static [(&'static str, &'static str)],
    /// The order of arithmetic.
    pub numerical_mode: NumericalMode,
}

impl OpContract {
    /// Name, version and mode on one line: `rms_norm v1 (weight_multiply=f32)`.
    pub fn label(&self) -> String {
        match self.numerical_mode.name {
            "" => format!("{} v{}", self.operation, self.version),
            mode => format!("{} v{} ({mode})", self.operation, self.version),
        }
    }
}
