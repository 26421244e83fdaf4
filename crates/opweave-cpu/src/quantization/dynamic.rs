// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows under scales of their own.

use std::marker::PhantomData;
use std::ops::Range;

use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use super::by_types;
use super::encode::{AHEAD, Bounds, Coding, Row, encode, encode_and_look, table_of};
use super::magnitude::{Activation, largest_magnitude};
use super::scale::ScaleRule;
use crate::memory::exceeds_caches;
use crate::rows::{RowKernel, Rows, for_each_row};
use crate::simd::{Code, Elem, Isa, Simd};

/// One call: for each row a scale by `rule`, and the codes of the row under it.
#[derive(Clone, Copy, Debug)]
pub struct DynamicCall {
    /// Number of rows; 0 is legal.
    pub rows: usize,
    /// Columns of each row, at least 1.
    pub width: usize,
    /// The dtype of the input: f32, f16 or bf16.
    pub dtype: DType,
    /// The dtype of the codes: f8e4m3, f8e5m2 or i8.
    pub codes: DType,
    /// What is quantised.
    pub input: Rows,
    /// The codes.
    pub out: Rows,
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
/// - Every row of input and output, and `rows` scales, lie in memory that is valid for the reads and writes that
///   [`DynamicCall`] describes, aligned to their elements, of the stated dtypes.
/// - No two of them overlap.
/// - Nobody else accesses them until this returns.
pub unsafe fn dynamic_quant(isa: Isa, pool: &dyn Parallel, call: &DynamicCall) {
    // SAFETY: the caller's clauses; each arm names the dtypes that the call states.
    by_types!(call.dtype, call.codes, |T, C| unsafe { with::<T, C>(isa, pool, call) });
}

/// # Safety
/// - As for [`dynamic_quant`]; `T` and `C` are the call's dtypes.
unsafe fn with<T: Activation, C: Code + Elem>(isa: Isa, pool: &dyn Parallel, call: &DynamicCall) {
    let kernel = Body::<T, C> {
        call: *call,
        lowest: -(call.i8_range as f32),
        // What is read passes through the caches too.
        stream: exceeds_caches(call.rows, call.width * (size_of::<T>() + 1)),
        types: PhantomData,
    };
    // SAFETY: the caller's clauses.
    unsafe { for_each_row(isa, pool, &kernel, call.rows, call.width * (size_of::<T>() + 1)) }
}

struct Body<T, C> {
    call: DynamicCall,
    lowest: f32,
    stream: bool,
    types: PhantomData<fn(T, C)>,
}

// SAFETY: inert data; `dynamic_quant` answers for what is done through its addresses.
unsafe impl<T, C> Sync for Body<T, C> {}

impl<T: Activation, C: Code + Elem> RowKernel for Body<T, C> {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>) {
        let DynamicCall { width, input, out, scale: scales, rule, .. } = self.call;
        let stream = S::STREAMS && self.stream;
        let mut found = None;
        for row in rows.clone() {
            // SAFETY: the trait's clause: these are rows of the call, and each has a scale. A fence follows.
            unsafe {
                let (from, to) = (input.row::<T>(row).cast_const(), out.row::<C>(row));
                let largest = match found {
                    Some(largest) => largest,
                    None => largest_magnitude(s, from, width, None),
                };
                let scale = rule.scale(largest);
                rule.write(scales, row, scale);
                let coding = Coding { scale, lowest: self.lowest, zero_point: None };
                let bounds = Bounds::Known(scale.is_finite());
                let table = table_of::<S, T, C>(s, coding);
                let look = input.row::<T>(if row + 1 < rows.end { row + 1 } else { row }).cast_const();
                let part = Row { width, bounds, stream, next: look.wrapping_byte_add(AHEAD), lines: size_of::<T>() };
                if stream {
                    found = Some(encode_and_look::<S, T, C>(s, (from, to), coding, table.as_ref(), part, look));
                } else {
                    encode::<S, T, C, false>(s, from, to, coding, table.as_ref(), part);
                }
            }
        }
        if self.stream {
            s.fence();
        }
    }
}
