// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Probabilities from logits, and their logarithms.

/// The operators of this family: the one list that a further one joins.
#[doc(hidden)]
#[macro_export]
macro_rules! softmax_operators {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*] softmax:
            softmax: Softmax,
            log_softmax: LogSoftmax,
        }
    };
}

softmax_operators!(family);

use opweave_tensor::DType;

use crate::{ArgSpecs, Cost, DynDims, Legal, NumericalMode, OpContract, Saturation};

/// Row widths: the largest vocabularies.
pub const WIDTHS: Legal = Legal::Range(1, 262_144);

/// The contract of the family: accumulated in f32, one rounding, in place if the caller wants.
const fn contract(operation: &'static str) -> OpContract {
    let numerical_mode = NumericalMode {
        name: "",
        accumulation: DType::F32,
        roundings: &[],
        weight_multiply: None,
        saturation: Saturation::None,
    };
    OpContract { operation, version: 1, mutates: &[], aliases: &[("out", "input")], numerical_mode }
}

/// What the family takes: about twelve operations for each element.
fn cost(specs: &ArgSpecs, dims: &DynDims, width: usize) -> Cost {
    Cost::streaming(specs, dims, 12 * (dims.get(0) * width) as u64)
}
