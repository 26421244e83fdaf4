// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What norms that end in codes are held to.

use opweave_contract::Operator;
use opweave_contract::ops::normalization::QuantMode;
use opweave_contract::ops::quantization::ScaleFormat;
use opweave_reference::{Arguments, Reference};
use opweave_tensor::DType;

use super::common;
use crate::compare::{Computation, Rule, Tolerance};
use crate::input::Grade;
use crate::suite::Case;

/// The tolerance of an output.
///
/// With `mode=composed`, the norm is rounded as the norm alone would be, so that almost all scales are exact; where the
/// largest element is one number off, the scale is off by as much. Codes may be one off, few of them.
pub(super) fn tolerance<O: Reference>(
    case: &Case<O>,
    activation: DType,
    mode: QuantMode,
    name: &str,
    dtype: DType,
    inputs: &Arguments,
) -> Tolerance {
    let length = inputs.get("input").and_then(|v| v.shape.last().copied()).unwrap_or(1);
    let exact = Tolerance::of(Computation::Exact, dtype);
    match (name, dtype) {
        ("out", DType::I8) => Tolerance::of(Computation::Steps(1), dtype),
        ("out", _) => {
            // Small integers are divided by each other, so that many quotients lie on ties.
            let exact_fraction = if case.grade == Some(Grade::Exact) { 0.7 } else { 0.95 };
            Tolerance { rule: Rule::Rounded { max_ulp: 1, exact_fraction, slack: 0.0 }, ..exact }
        }
        ("scale", DType::F32) if mode == QuantMode::Composed && activation != DType::F32 => {
            // Numbers of f32 from one number of the activation's dtype to the next.
            let step = if activation == DType::F16 { 1 << 13 } else { 1 << 16 };
            Tolerance { rule: Rule::Rounded { max_ulp: 2 * step, exact_fraction: 0.9, slack: 0.0 }, ..exact }
        }
        ("scale", DType::F8E8M0) => exact,
        _ => common::tolerance(case, dtype, length, inputs),
    }
}

/// Says of a case why all its scales may be equal.
pub(super) fn may_be_constant<O: Operator>(format: fn(&Case<O>) -> ScaleFormat) -> impl Fn(Case<O>) -> Case<O> {
    move |case| match (format(&case), case.grade) {
        (ScaleFormat::PowerOfTwo, _) => case.constant("norms are alike, and so are the powers of two above them"),
        (_, Some(Grade::Special)) => case.constant("a NaN among the weights makes every row NaN"),
        _ => case,
    }
}
