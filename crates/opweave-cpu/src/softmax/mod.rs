// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The softmax family.
//!
//! A row is read three times: for its maximum, for the sum of exponentials, and for the result, whose exponentials are made
//! anew, but for the first columns of a softmax in 16 bits, where they are kept. After the first time it is in the cache. The sum is accumulated in f32
//! over blocks of columns and in f64 over the blocks, in an order that depends on the width and on nothing else.

mod row;

use half::{bf16, f16};
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use crate::memory::{exceeds_caches, streams};
use crate::rows::{Rows, for_each_row};
use crate::simd::{Elem, Isa};
use row::{Form, Logarithm, Probability, Shared, Whole};

/// One call: the softmax of each row, or its logarithm.
///
/// `out` may be `input` itself, with the same dtype and strides; apart from that the two do not overlap.
#[derive(Clone, Copy, Debug)]
pub struct SoftmaxCall {
    /// Number of rows; 0 is legal.
    pub rows: usize,
    /// Columns of each row, at least 1.
    pub width: usize,
    /// The dtype of `input`: f32, f16 or bf16.
    pub dtype: DType,
    /// The dtype of `out`: that of `input`, or f32.
    pub out_dtype: DType,
    /// The logits.
    pub input: Rows,
    /// The result.
    pub out: Rows,
    /// What logits are divided by: finite, above 0.
    pub temperature: f32,
    /// Whether the result is the logarithm.
    pub logarithm: bool,
}

/// Computes `call`.
///
/// # Safety
/// - Every row of both tensors lies in memory that is valid for the reads and writes that [`SoftmaxCall`] describes, aligned
///   to its elements, of the stated dtypes.
/// - `out` does not overlap `input`, except that it may be `input`.
/// - Nobody else accesses them until this returns.
pub unsafe fn softmax(isa: Isa, pool: &dyn Parallel, call: &SoftmaxCall) {
    // SAFETY: the caller's clauses; each arm names the dtypes that the call states.
    unsafe {
        match (call.dtype, call.out_dtype) {
            (DType::F32, DType::F32) => by_form::<f32, f32>(isa, pool, call),
            (DType::F16, DType::F16) => by_form::<f16, f16>(isa, pool, call),
            (DType::BF16, DType::BF16) => by_form::<bf16, bf16>(isa, pool, call),
            (DType::F16, DType::F32) => by_form::<f16, f32>(isa, pool, call),
            (DType::BF16, DType::F32) => by_form::<bf16, f32>(isa, pool, call),
            (from, to) => unreachable!("the contract admits no {to} from {from}"),
        }
    }
}

/// # Safety
/// - As for [`softmax`]; `T` and `U` are the call's dtypes.
unsafe fn by_form<T: Elem, U: Elem>(isa: Isa, pool: &dyn Parallel, call: &SoftmaxCall) {
    // SAFETY: the caller's clauses.
    unsafe {
        if call.logarithm {
            run::<T, U, Logarithm>(isa, pool, call);
        } else {
            run::<T, U, Probability>(isa, pool, call);
        }
    }
}

/// # Safety
/// - As for [`softmax`]; `T` and `U` are the call's dtypes.
unsafe fn run<T: Elem, U: Elem, F: Form>(isa: Isa, pool: &dyn Parallel, call: &SoftmaxCall) {
    let &SoftmaxCall { rows, width, input, out, temperature, .. } = call;
    let bytes = width * size_of::<U>();
    let stream = streams(rows, bytes, out, &[input]);
    let ahead = exceeds_caches(rows, bytes);
    let shared = Shared { input, out, width, scale: row::scale_of(temperature), ahead, stream };
    // SAFETY: the caller's clauses.
    unsafe { for_each_row(isa, pool, &Whole::<T, U, F>::new(shared), rows, bytes + width * size_of::<T>()) }
}
