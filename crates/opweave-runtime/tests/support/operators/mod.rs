// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Three very different operators, which between them use every feature of the core: a norm, a linear layer with a packed
//! weight, and paged attention with workspace, faults and a host argument.

mod attention;
mod linear;
mod norm;

use opweave_contract::{NumericalMode, OpContract, Saturation};
use opweave_tensor::DType;

pub use attention::{TestAttention, TestAttentionArgs, TestAttentionProblem};
pub use linear::{Packing, TestLinear, TestLinearProblem};
pub use norm::{EXACT, FAST, NormMode, TestNorm, TestNormArgs, TestNormProblem};

/// A contract of version 1 that accumulates in f32.
pub const fn contract(operation: &'static str, mode: &'static str) -> OpContract {
    OpContract {
        operation,
        version: 1,
        mutates: &[],
        aliases: &[],
        numerical_mode: NumericalMode {
            name: mode,
            accumulation: DType::F32,
            roundings: &[],
            weight_multiply: None,
            saturation: Saturation::None,
        },
    }
}
