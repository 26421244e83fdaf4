// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows divided by their root mean square, or by their norm: `rms_norm`, `gemma_rms_norm`, the fused additions, `l2_norm`.

use std::marker::PhantomData;
use std::ops::Range;

use half::{bf16, f16};
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use super::finish::{Finish, Weight};
use super::overlap::Ahead;
use super::room::Room;
use super::segment::Segment;
use super::source::{Plain, Source, Sum};
use super::{Columns, TRUSTED_FROM};
use crate::memory::{exceeds_caches, streams};
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
    pub(crate) fn divisor(self, sum: f64, width: usize) -> f64 {
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
    pub(crate) fn inverse(self, sum: f64, width: usize) -> Option<f32> {
        let divisor = self.divisor(sum, width);
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
            DType::F32 => by_source::<f32>(isa, pool, call),
            DType::F16 => by_source::<f16>(isa, pool, call),
            DType::BF16 => by_source::<bf16>(isa, pool, call),
            other => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    }
}

/// # Safety
/// - As for [`rms_norm`]; `T` is the call's dtype.
unsafe fn by_source<T: Elem>(isa: Isa, pool: &dyn Parallel, call: &RmsCall) {
    let &RmsCall { rows, width, input, out, .. } = call;
    let finish = Weight::<T>::new(call.weight, call.weight_plus_one);
    let common = Common {
        out,
        width,
        groups: 1,
        statistic: call.statistic,
        round: call.round_normalised,
        ahead: exceeds_caches(rows, width * size_of::<T>()),
        stream: streams(rows, width * size_of::<T>(), out, &[input]),
        distance: match call.residual {
            None => Ahead::of(width, &[input]),
            Some(residual) => Ahead::of(width, &[input, residual]),
        },
    };
    // SAFETY: the caller's clauses.
    unsafe {
        match call.residual {
            None => {
                let source = |row| Plain(input.row::<T>(row).cast_const());
                run::<T, _, _>(isa, pool, source, |_| finish, common, rows, 2);
            }
            Some(residual) => {
                let rounded = call.round_sum;
                let source =
                    |row| Sum { input: input.row::<T>(row).cast_const(), residual: residual.row::<T>(row), rounded };
                run::<T, _, _>(isa, pool, source, |_| finish, common, rows, 4);
            }
        }
    }
}

/// What does not depend on types.
#[derive(Clone, Copy)]
pub(super) struct Common {
    pub(super) out: Rows,
    /// Columns of a group.
    pub(super) width: usize,
    /// Groups of columns in a row, each normalised by itself.
    pub(super) groups: usize,
    pub(super) statistic: Statistic,
    pub(super) round: bool,
    /// Whether the next row is fetched while one is worked on.
    pub(super) ahead: bool,
    pub(super) stream: bool,
    /// How far ahead memory is asked for while one row is written and the next one is summed.
    pub(super) distance: Ahead,
}

/// Normalises `rows` rows of what `source` gives for each, `tensors` of its width being read or written.
///
/// # Safety
/// - Row `r` of `source(r)`, `finish(r)` and `common.out` are valid as their types say.
/// - Nobody else accesses them until this returns.
pub(super) unsafe fn run<T: Elem, Src: Source, F: Finish>(
    isa: Isa,
    pool: &dyn Parallel,
    source: impl Fn(usize) -> Src + Sync,
    finish: impl Fn(usize) -> F + Sync,
    common: Common,
    rows: usize,
    tensors: usize,
) {
    let bytes = tensors * common.width * common.groups * size_of::<T>();
    let kernel = Scaled::<T, _, _> { source, finish, common, out: PhantomData };
    // SAFETY: the caller's clauses.
    unsafe { for_each_row(isa, pool, &kernel, rows, bytes) }
}

struct Scaled<T, P, Q> {
    source: P,
    finish: Q,
    common: Common,
    out: PhantomData<fn(T)>,
}

impl<T, Src, F, P, Q> RowKernel for Scaled<T, P, Q>
where
    T: Elem,
    Src: Source,
    F: Finish,
    P: Fn(usize) -> Src + Sync,
    Q: Fn(usize) -> F + Sync,
{
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>) {
        let Common { out, width, groups, ahead, stream, .. } = self.common;
        let mut room = Room::new();
        let total = width * groups;
        // SAFETY: the trait's clause: the parameters have as many columns, for which there is room.
        let wide = Room::is_worth::<T>(&rows, total) && unsafe { (self.finish)(rows.start).widen(s, &mut room, total) };
        // The sum of squares of the coming group, where it was taken while the one before it was written.
        let mut found = None;
        for row in rows.clone() {
            let (source, finish) = ((self.source)(row), (self.finish)(row));
            let finish = if wide { finish.widened(&room) } else { finish };
            let later = (row + 1 < rows.end).then(|| (self.source)(row + 1));
            let next = later.filter(|_| ahead);
            for group in 0..groups {
                let column = group * width;
                // SAFETY: `row` is a row of the call and `column` the first of `width` columns in it.
                unsafe {
                    let out = out.row::<T>(row).add(column);
                    let segment = Segment { source: source.at(column), finish: finish.at(column), out };
                    // At the end there is nothing to look at but the same columns.
                    let coming = match later {
                        _ if group + 1 < groups => source.at(column + width),
                        Some(later) => later,
                        None => segment.source,
                    };
                    let next = next.map(|next| next.at(column));
                    found = segment.normalise(s, &self.common, found, next, coming);
                }
            }
        }
        if stream {
            s.fence();
        }
    }
}
