// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Probabilities from logits, and their logarithms.

mod log_softmax;
#[expect(clippy::module_inception, reason = "the operator that gives the family its name")]
mod softmax;

pub use log_softmax::{LOG_SOFTMAX, LogSoftmax, LogSoftmaxArgs, LogSoftmaxProblem};
pub use softmax::{SOFTMAX, Softmax, SoftmaxArgs, SoftmaxProblem};

use opweave_tensor::DType;

use crate::{Legal, NumericalMode, OperationDecl, Saturation};

/// Row widths: the largest vocabularies.
pub const WIDTHS: Legal = Legal::Range(1, 262_144);

/// The mode: accumulated in f32, one rounding.
pub(crate) const fn mode() -> NumericalMode {
    NumericalMode {
        name: "",
        accumulation: DType::F32,
        roundings: &[],
        weight_multiply: None,
        saturation: Saturation::None,
    }
}

/// The operations of this family and the rows that exist for them.
pub const OPERATIONS: &[OperationDecl] = &[softmax::DECLARATION, log_softmax::DECLARATION];
