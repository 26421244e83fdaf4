// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows divided by their root mean square and quantised: a norm and `dynamic_quant` in one pass over memory.
//!
//! The norm never reaches memory. It is formed a block of columns at a time in a buffer on the stack, by the loops of the norm
//! itself, so that its bits are the norm's. A row that fits one block is normalised once; the blocks of a wider one twice, for
//! the largest magnitude and for the codes.
//!
//! Each of these passes is a function of its own, and no type of codes comes into that of the norm: for every pair of types, and
//! every kind of source, they took a third of the time in which the crate compiles.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use super::exact::{inverse, scaled_columns};
use super::finish::{Finish, Weight};
use super::overlap::total;
use super::rms::RmsCall;
use super::segment::{Later, Segment, Squares};
use super::source::{Plain, Source, Sum, Unkept};
use crate::memory::exceeds_caches;
use crate::quantization::encode::{Bounds, Coding, Row, encode, table_of};
use crate::quantization::magnitude::{Activation, largest_magnitude};
use crate::quantization::{ScaleRule, by_types};
use crate::rows::{RowKernel, for_each_row};
use crate::simd::{Code, Elem, Isa, Simd, SimdOp};

/// One call: the codes and the scale of each row of a norm.
#[derive(Clone, Copy, Debug)]
pub struct RmsQuantCall {
    /// The norm. Its `out` are the rows of codes, apart from every input.
    pub norm: RmsCall,
    /// Whether the values before the norm's last rounding are quantised.
    pub unrounded: bool,
    /// The dtype of the codes: f8e4m3, f8e5m2 or i8.
    pub codes: DType,
    /// One scale for each row, side by side, in the rule's format.
    pub scale: *mut u8,
    /// How a scale is found.
    pub rule: ScaleRule,
    /// The largest magnitude of an i8 code: 127 or 128.
    pub i8_range: usize,
}

/// Computes `call`.
///
/// # Safety
/// - The clauses of [`rms_norm`](super::rms_norm) for the inputs and the residual of the norm.
/// - Every row of codes, and a scale for each row, lie in memory that is valid for writing, aligned to their elements, of the
///   stated dtypes, and overlap nothing.
/// - Nobody else accesses them until this returns.
pub unsafe fn rms_norm_dynamic_quant(isa: Isa, pool: &dyn Parallel, call: &RmsQuantCall) {
    by_types!(call.norm.dtype, call.codes, |T, C| {
        // SAFETY: the caller's clauses; each arm names the dtypes that the call states.
        unsafe {
            match call.unrounded {
                false => by_source::<T, T, C>(isa, pool, call),
                true => by_source::<T, f32, C>(isa, pool, call),
            }
        }
    });
}

/// # Safety
/// - As for [`rms_norm_dynamic_quant`]; `T` and `C` are the call's dtypes.
unsafe fn by_source<T: Activation, V: Activation, C: Code + Elem>(isa: Isa, pool: &dyn Parallel, call: &RmsQuantCall) {
    let RmsCall { input, residual, round_sum: rounded, .. } = call.norm;
    // SAFETY: the caller's clauses.
    unsafe {
        match residual {
            None => run::<T, V, C, _>(isa, pool, call, |row| Plain(input.row::<T>(row).cast_const()), 1),
            Some(residual) => {
                let source =
                    |row| Sum { input: input.row::<T>(row).cast_const(), residual: residual.row::<T>(row), rounded };
                run::<T, V, C, _>(isa, pool, call, source, 3);
            }
        }
    }
}

/// # Safety
/// - As for [`by_source`]; `source` gives the rows of the call, of which `tensors` are read or written.
unsafe fn run<T: Activation, V: Activation, C: Code + Elem, Src: Source>(
    isa: Isa,
    pool: &dyn Parallel,
    call: &RmsQuantCall,
    source: impl Fn(usize) -> Src + Sync,
    tensors: usize,
) {
    let RmsCall { rows, width, .. } = call.norm;
    let kernel = Quantized::<T, V, C, _> {
        source,
        weight: Weight::new(call.norm.weight, call.norm.weight_plus_one),
        call: *call,
        stream: exceeds_caches(rows, width),
        types: PhantomData,
    };
    // SAFETY: the caller's clauses.
    unsafe { for_each_row(isa, pool, &kernel, rows, width * (tensors * size_of::<T>() + 1)) }
}

/// Columns that are normalised before they are looked at: the widths of most models, in half of the second cache at most.
const BLOCK: usize = 8192;

/// Room for a block, aligned to cache lines.
#[repr(align(64))]
struct Block<V>(MaybeUninit<[V; BLOCK]>);

struct Quantized<T, V, C, P> {
    source: P,
    weight: Weight<T>,
    call: RmsQuantCall,
    stream: bool,
    types: PhantomData<fn(V, C)>,
}

// SAFETY: inert data and a function that threads may share; `rms_norm_dynamic_quant` answers for what is done through the
// addresses.
unsafe impl<T, V, C, P: Sync> Sync for Quantized<T, V, C, P> {}

/// What a row is multiplied by: in f32, or in f64 where f32 cannot hold its statistic.
#[derive(Clone, Copy)]
enum Factor {
    Single(f32),
    Double(f64),
}

impl<T, V, C, Src, P> RowKernel for Quantized<T, V, C, P>
where
    T: Activation,
    V: Activation,
    C: Code + Elem,
    Src: Source,
    P: Fn(usize) -> Src + Sync,
{
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>) {
        let RmsQuantCall { norm, rule, scale: scales, .. } = self.call;
        let RmsCall { width, statistic, round_normalised: round, out, .. } = norm;
        let mut block = Block::<V>(MaybeUninit::uninit());
        let values = block.0.as_mut_ptr().cast::<V>();
        for row in rows {
            let source = (self.source)(row);
            // SAFETY: the trait's clause: this is a row of the call; a block has at most `BLOCK` columns, which are filled
            // before they are read.
            unsafe {
                let squares = s.run(SumOfSquares { source, width });
                let factor = match statistic.inverse(squares, width) {
                    Some(single) => Factor::Single(single),
                    None => Factor::Double(inverse(source, width, statistic)),
                };
                let whole = width <= BLOCK;
                let mut largest = 0;
                for column in (0..width).step_by(BLOCK) {
                    let n = BLOCK.min(width - column);
                    let finish = self.weight.at(column);
                    if whole || !Src::KEEPS {
                        s.run(Fill { source: source.at(column), finish, out: values, n, factor, round });
                    } else {
                        s.run(Fill { source: Unkept(source.at(column)), finish, out: values, n, factor, round });
                    }
                    // Magnitudes in the order of their bits, NaN above all.
                    largest = largest.max(largest_magnitude(s, values, n, None).to_bits());
                }
                let scale = rule.scale(f32::from_bits(largest));
                rule.write(scales, row, scale);
                let coding = Coding { scale, lowest: -(self.call.i8_range as f32), zero_point: None };
                let table = table_of::<S, V, C>(s, coding);
                let bounds = Bounds::Known(scale.is_finite());
                for column in (0..width).step_by(BLOCK) {
                    let n = BLOCK.min(width - column);
                    if !whole {
                        let finish = self.weight.at(column);
                        s.run(Fill { source: source.at(column), finish, out: values, n, factor, round });
                    }
                    let part = Row { width: n, bounds, stream: self.stream, next: values, lines: 0 };
                    encode::<S, V, C, false>(
                        s,
                        values.cast_const(),
                        out.row::<C>(row).add(column),
                        coding,
                        table.as_ref(),
                        part,
                    );
                }
            }
        }
        if self.stream {
            s.fence();
        }
    }
}

/// The sum of squares of a row. Whoever makes one has `width` columns that are valid in the source.
struct SumOfSquares<Src> {
    source: Src,
    width: usize,
}

impl<Src: Source> SimdOp for SumOfSquares<Src> {
    type Output = f64;

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> f64 {
        // SAFETY: whoever made this has the clause.
        unsafe { total(s, Squares(self.source), self.width, None) }
    }
}

/// The norm of `n` columns, as `V`: the activation's type or f32. Whoever makes one has `n` columns that are valid in `source`,
/// `finish` and `out`.
struct Fill<T, V, Src> {
    source: Src,
    finish: Weight<T>,
    out: *mut V,
    n: usize,
    factor: Factor,
    round: bool,
}

impl<T: Elem, V: Elem, Src: Source> SimdOp for Fill<T, V, Src> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        let Fill { source, finish, out, n, factor, round } = self;
        // SAFETY: whoever made this has the clauses.
        unsafe { fill::<S, T, V, _, _>(s, source, finish, out, n, factor, round) }
    }
}

/// # Safety
/// - As for [`Fill`].
#[inline(always)]
unsafe fn fill<S: Simd, T: Elem, V: Elem, Src: Source, F: Finish>(
    s: S,
    source: Src,
    finish: F,
    out: *mut V,
    n: usize,
    factor: Factor,
    round: bool,
) {
    // SAFETY: the caller's clauses.
    unsafe {
        match factor {
            Factor::Double(inverse) => scaled_columns::<T, V, _, _>(source, finish, out, n, inverse, round),
            Factor::Single(inverse) if T::DTYPE as u8 == V::DTYPE as u8 => {
                Segment { source, finish, out: out.cast::<T>() }.scaled(s, n, inverse, round, Later::Fetch(None));
            }
            Factor::Single(inverse) => {
                let segment = Segment { source, finish, out: std::ptr::null_mut::<T>() };
                let (inverse, round) = (s.splat(inverse), T::NARROW && round);
                let mut i = 0;
                while i + S::LANES <= n {
                    V::store::<S, false>(s, out.add(i), segment.vector::<S, true>(s, i, S::LANES, inverse, round));
                    i += S::LANES;
                }
                if i < n {
                    V::store_tail(s, out.add(i), n - i, segment.vector::<S, false>(s, i, n - i, inverse, round));
                }
            }
        }
    }
}
