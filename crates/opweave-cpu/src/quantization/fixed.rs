// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! All rows under one scale.

use std::marker::PhantomData;
use std::ops::Range;

use opweave_contract::ops::quantization::largest_code;
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use super::by_types;
use super::encode::{AHEAD, Bounds, Coding, Row, encode, table_of};
use super::magnitude::Activation;
use crate::memory::exceeds_caches;
use crate::rows::{RowKernel, Rows, for_each_row};
use crate::simd::{Code, Elem, Isa, Simd};

/// One call: the codes of every element under one scale.
#[derive(Clone, Copy, Debug)]
pub struct FixedCall {
    /// Number of rows; 0 is legal.
    pub rows: usize,
    /// Columns of each row; 0 is legal.
    pub width: usize,
    /// The dtype of the input: f32, f16 or bf16.
    pub dtype: DType,
    /// The dtype of the codes: f8e4m3, f8e5m2 or i8.
    pub codes: DType,
    /// What is quantised.
    pub input: Rows,
    /// The codes.
    pub out: Rows,
    /// The divisor. What is not finite and positive gives the codes of NaN.
    pub scale: f32,
    /// Added to the rounded quotient. What is outside -128..=127 gives the codes of NaN.
    pub zero_point: Option<i32>,
    /// The largest magnitude of an i8 code: 127 or 128.
    pub i8_range: usize,
}

/// Columns that are encoded as one row would be: so that a few wide rows keep all threads busy. A multiple of cache lines.
const BLOCK: usize = 4 << 10;

/// Quotients up to here are integers of 32 bits, and from 256 on, whatever the zero point, of the last code.
const SATURATED: f32 = (1_u32 << 20) as f32;

/// Computes `call`.
///
/// # Safety
/// - Every row of input and output lies in memory that is valid for reading and writing, aligned to its elements, of the
///   stated dtype.
/// - They do not overlap.
/// - Nobody else accesses them until this returns.
pub unsafe fn quantize(isa: Isa, pool: &dyn Parallel, call: &FixedCall) {
    // SAFETY: the caller's clauses; each arm names the dtypes that the call states.
    by_types!(call.dtype, call.codes, |T, C| unsafe { with::<T, C>(isa, pool, call) });
}

/// # Safety
/// - As for [`quantize`]; `T` and `C` are the call's dtypes.
unsafe fn with<T: Activation, C: Code + Elem>(isa: Isa, pool: &dyn Parallel, call: &FixedCall) {
    let &FixedCall { rows, width, input, out, scale, zero_point, .. } = call;
    let legal = scale.is_finite() && scale > 0.0 && zero_point.is_none_or(|z| i8::try_from(z).is_ok());
    let coding = Coding {
        scale: if legal { scale } else { f32::NAN },
        lowest: -(call.i8_range as f32),
        zero_point: zero_point.map(|z| z as f32),
    };
    // Rows without gaps are one row.
    let whole = width as isize;
    let (rows, width) =
        if input.stride == whole && out.stride == whole { (rows.min(1), rows * width) } else { (rows, width) };
    let kernel = Body::<T, C> {
        input,
        out,
        width,
        blocks: width.div_ceil(BLOCK),
        coding,
        // A lowest code above the type's own is looked to only where a zero point is added.
        most: if call.codes == DType::I8 && (zero_point.is_some() || call.i8_range == 128) {
            SATURATED
        } else {
            largest_code(call.codes)
        },
        // What is read passes through the caches too.
        stream: exceeds_caches(rows, width * (size_of::<T>() + 1)),
        types: PhantomData,
    };
    // SAFETY: the caller's clauses: block `i` is columns of row `i / blocks`.
    unsafe { for_each_row(isa, pool, &kernel, rows * kernel.blocks, width.min(BLOCK) * (size_of::<T>() + 1)) }
}

struct Body<T, C> {
    input: Rows,
    out: Rows,
    width: usize,
    /// Blocks of a row.
    blocks: usize,
    coding: Coding,
    /// Quotients up to here have products in their place.
    most: f32,
    stream: bool,
    types: PhantomData<fn(T, C)>,
}

impl<T: Activation, C: Code + Elem> RowKernel for Body<T, C> {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, blocks: Range<usize>) {
        let table = table_of::<S, T, C>(s, self.coding);
        let mut index = blocks.start;
        while index < blocks.end {
            // All blocks of a row that there are.
            let (row, first) = (index / self.blocks, index % self.blocks);
            let last = (first + blocks.end - index).min(self.blocks);
            index += last - first;
            let column = first * BLOCK;
            let width = self.width.min(last * BLOCK) - column;
            // SAFETY: the trait's clause: `column..column + width` are columns of a row of the call. A fence follows.
            unsafe {
                let from = self.input.row::<T>(row).cast_const().add(column);
                // Products are worth a look at the numbers.
                let bounds = Bounds::Quotient(self.most);
                let next = from.wrapping_byte_add(AHEAD);
                let part = Row { width, bounds, stream: self.stream, next, lines: size_of::<T>() };
                encode::<S, T, C, true>(s, from, self.out.row::<C>(row).add(column), self.coding, table.as_ref(), part);
            }
        }
        if self.stream {
            s.fence();
        }
    }
}
