// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows divided by their root mean square, or by their norm: `rms_norm`, `gemma_rms_norm`, the fused additions, `l2_norm`.

use std::ops::Range;

use half::{bf16, f16};
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use super::exact::scaled_row;
use super::finish::{Finish, Identity, Weight};
use super::source::{Plain, Source, Sum, for_each_vector, store};
use super::{Columns, TRUSTED_FROM, streams};
use crate::rows::{RowKernel, Rows, for_each_row};
use crate::simd::{Elem, Isa, Simd};

/// What a row is divided by, from the sum of its squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// `sqrt(mean + eps)`.
    RootMeanSquare {
        /// Added to the mean.
        eps: f64,
    },
    /// `sqrt(sum + eps)`.
    RootSum {
        /// Added to the sum.
        eps: f64,
    },
    /// `max(sqrt(sum), eps)`; NaN if the sum is.
    LargerOfNorm {
        /// The least divisor.
        eps: f64,
    },
}

impl Statistic {
    /// The divisor.
    #[inline(always)]
    pub(super) fn divisor(self, sum: f64, width: usize) -> f64 {
        match self {
            Statistic::RootMeanSquare { eps } => (sum / width as f64 + eps).sqrt(),
            Statistic::RootSum { eps } => (sum + eps).sqrt(),
            Statistic::LargerOfNorm { eps } => {
                let norm = sum.sqrt();
                // Not `f64::max`, which would drop a NaN.
                if norm < eps { eps } else { norm }
            }
        }
    }

    /// The reciprocal of the divisor, or `None` when the row needs f64.
    #[inline(always)]
    pub(super) fn inverse(self, sum: f32, width: usize) -> Option<f32> {
        let divisor = self.divisor(f64::from(sum), width);
        (sum.is_finite() && divisor * divisor >= TRUSTED_FROM).then(|| (1.0 / divisor) as f32)
    }
}

/// One call: `out = value / divisor(value) * (offset + weight)` for each row, where the value is `input`, or
/// `input + residual`, which is then also stored in `residual`.
///
/// `out` may be `input` itself, with the same strides; apart from that the tensors do not overlap.
#[derive(Clone, Copy, Debug)]
pub struct RmsCall {
    /// Number of rows; 0 is legal.
    pub rows: usize,
    /// Columns of each row; 0 is legal.
    pub width: usize,
    /// The dtype of input, residual and output: f32, f16 or bf16.
    pub dtype: DType,
    /// What is normalised.
    pub input: Rows,
    /// Added to the input, and replaced by the rounded sum.
    pub residual: Option<Rows>,
    /// The result.
    pub out: Rows,
    /// The weight; ones when absent.
    pub weight: Option<Columns>,
    /// Whether the scale is `1 + weight`, formed in f32.
    pub weight_plus_one: bool,
    /// What a row is divided by.
    pub statistic: Statistic,
    /// Whether the normalised value is rounded to the dtype before the weight multiplies it.
    pub round_normalised: bool,
    /// Whether the norm is of the rounded sum rather than of the unrounded one.
    pub round_sum: bool,
}

/// Computes `call`.
///
/// # Safety
/// - Every row of every tensor, and `width` columns of the weight, lie in memory that is valid for the reads and writes
///   that [`RmsCall`] describes, aligned to their elements, of the stated dtypes (dtype: f32, f16 or bf16; weight: the same
///   or f32).
/// - No two tensors overlap, except that `out` may be `input`.
/// - Nobody else accesses them until this returns.
pub unsafe fn rms_norm(isa: Isa, pool: &dyn Parallel, call: &RmsCall) {
    // SAFETY: the caller's clauses; each arm names the dtype that the call states.
    unsafe {
        match call.dtype {
            DType::F32 => by_weight::<f32>(isa, pool, call),
            DType::F16 => by_weight::<f16>(isa, pool, call),
            DType::BF16 => by_weight::<bf16>(isa, pool, call),
            other => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    }
}

/// # Safety
/// - As for [`rms_norm`]; `T` is the call's dtype.
unsafe fn by_weight<T: Elem>(isa: Isa, pool: &dyn Parallel, call: &RmsCall) {
    let offset = if call.weight_plus_one { 1.0 } else { -0.0 };
    // SAFETY: the caller's clauses; the weight's type is the one that the call states.
    unsafe {
        match call.weight {
            None => by_source::<T, _>(isa, pool, call, Identity),
            Some(w) if w.dtype == T::DTYPE => {
                by_source::<T, _>(isa, pool, call, Weight { weight: w.data.cast::<T>(), offset });
            }
            Some(w) => by_source::<T, _>(isa, pool, call, Weight { weight: w.data.cast::<f32>(), offset }),
        }
    }
}

/// # Safety
/// - As for [`rms_norm`]; `T` and `finish` are those of the call.
unsafe fn by_source<T: Elem, F: Finish>(isa: Isa, pool: &dyn Parallel, call: &RmsCall, finish: F) {
    let &RmsCall { rows, width, input, out, .. } = call;
    let stream = streams(rows, width, T::DTYPE, out, &[input]);
    let bytes = width * size_of::<T>();
    let common = Common { out, width, statistic: call.statistic, round: call.round_normalised, stream };
    // SAFETY: the caller's clauses.
    unsafe {
        match call.residual {
            None => {
                let source = |row| Plain(input.row::<T>(row).cast_const());
                for_each_row(isa, pool, &Scaled::<T, _, _>::new(source, finish, common), rows, 2 * bytes);
            }
            Some(residual) => {
                let rounded = call.round_sum;
                let source =
                    |row| Sum { input: input.row::<T>(row).cast_const(), residual: residual.row::<T>(row), rounded };
                for_each_row(isa, pool, &Scaled::<T, _, _>::new(source, finish, common), rows, 4 * bytes);
            }
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Common {
    pub(super) out: Rows,
    pub(super) width: usize,
    pub(super) statistic: Statistic,
    pub(super) round: bool,
    pub(super) stream: bool,
}
