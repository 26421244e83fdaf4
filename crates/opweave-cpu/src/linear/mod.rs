// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Linear layers.
//!
//! A weight is read in *panels* of [`PANEL`] rows: for each column of the input a line of as many numbers, one for each
//! column of the result. So lanes are columns of the result, a number of the input meets all of them at once, and no sum
//! crosses lanes. Packing brings a weight into this order; a plain one is brought there on the way, a piece at a time.
//!
//! Every element of the result is summed in one order, whatever the number of rows, threads or tasks: floating-point
//! weights by runs of [`UNIT`] columns, each from zero, added up from left to right; codes against codes by blocks.

mod body;
mod codes;
mod dequantize;
mod dot;
mod finish;
mod float;
mod input;
mod panels;
mod quantized;
mod tile;

pub use codes::{code_bytes, pack_codes};
pub use float::{FloatCall, float_linear};
pub use panels::{float_bytes, pack_floats};
pub use quantized::{QuantizedCall, Scales, quantized_linear};

use opweave_contract::ops::linear::LinearActivation;
use opweave_tensor::DType;

use crate::rows::Rows;

/// Columns of the result that are computed together: two vectors of the widest kind, and a multiple of two of every other.
pub const PANEL: usize = 32;

/// Columns of the input whose products are summed before they are added to the rest: short enough that rounding errors stay
/// those of a sum in blocks, long enough that the additions do not show.
pub const UNIT: usize = 128;

/// Rows that are computed together at most: a multiple of every tile's.
const TOKENS: usize = 96;

/// What both kinds of linear layers have.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// Rows; 0 is legal.
    pub tokens: usize,
    /// Columns of the input; 0 is legal.
    pub in_features: usize,
    /// Columns of the result, at least 1.
    pub out_features: usize,
    /// The dtype of the input: f32, f16 or bf16.
    pub dtype: DType,
    /// The input.
    pub input: Rows,
    /// The bias and its dtype, if there is one.
    pub bias: Option<(*const u8, DType)>,
    /// The dtype of the result: f32, f16 or bf16.
    pub out_dtype: DType,
    /// The result.
    pub out: Rows,
    /// What is done to the sums.
    pub activation: LinearActivation,
}

// SAFETY: inert data, as `Rows` is: reading or writing through it is an unsafe operation whose caller answers for races.
unsafe impl Send for Layer {}
// SAFETY: as for Send.
unsafe impl Sync for Layer {}

impl Layer {
    /// Panels of the weight.
    fn panels(&self) -> usize {
        self.out_features.div_ceil(PANEL)
    }

    /// Columns of a panel: fewer in the last one.
    fn columns(&self, panel: usize) -> usize {
        (self.out_features - panel * PANEL).min(PANEL)
    }
}

/// Where a weight is.
#[derive(Clone, Copy, Debug)]
pub enum Weight {
    /// Packed, in the layout of the instruction set that runs.
    Packed(*const u8),
    /// Plain rows.
    Plain(Rows),
}

// SAFETY: as for `Layer`.
unsafe impl Send for Weight {}
// SAFETY: as for Send.
unsafe impl Sync for Weight {}

/// Runs `$body` with `$T` as the type of a floating-point dtype.
macro_rules! by_float {
    ($dtype:expr, |$T:ident| $body:expr) => {
        match $dtype {
            opweave_tensor::DType::F32 => {
                type $T = f32;
                $body
            }
            opweave_tensor::DType::F16 => {
                type $T = half::f16;
                $body
            }
            opweave_tensor::DType::BF16 => {
                type $T = half::bf16;
                $body
            }
            other => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    };
}
use by_float;
