// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `quantize_per_tensor` on the CPU.

use opweave_contract::ops::quantization::{QuantizePerTensor, QuantizePerTensorArgs, QuantizePerTensorProblem};
use opweave_device::cpu::Parallel;
use opweave_reference::FaultAt;

use super::rows_of;
use crate::native::Native;
use crate::quantization::{FixedCall, quantize};
use crate::simd::Isa;

/// The scale and the zero point of a call.
///
/// # Safety
/// - As [`Native::run`].
#[inline(always)]
unsafe fn parameters(args: &QuantizePerTensorArgs) -> (f32, Option<i32>) {
    // SAFETY: the caller's clauses: one f32, and one i32 where there is a zero point.
    unsafe { (args.scale.data().cast::<f32>().read(), args.zero_point.map(|z| z.data().cast::<i32>().read())) }
}

impl Native for QuantizePerTensor {
    unsafe fn scan(_: &QuantizePerTensorProblem, args: &QuantizePerTensorArgs) -> Option<FaultAt> {
        // SAFETY: the caller's clauses.
        let (scale, zero_point) = unsafe { parameters(args) };
        let broken = [!(scale.is_finite() && scale > 0.0), zero_point.is_some_and(|z| i8::try_from(z).is_err())];
        let clause = broken.iter().position(|&broken| broken).filter(|_| args.input.dim(0) > 0)?;
        Some(FaultAt { clause: clause as u32, row: 0 })
    }

    unsafe fn run(problem: &QuantizePerTensorProblem, args: &QuantizePerTensorArgs, isa: Isa, pool: &dyn Parallel) {
        // SAFETY: the caller's clauses.
        let (scale, zero_point) = unsafe { parameters(args) };
        let call = FixedCall {
            rows: args.input.dim(0),
            width: problem.hidden_size,
            dtype: problem.dtype,
            codes: problem.output_dtype,
            input: rows_of(&args.input),
            out: rows_of(&args.out),
            scale,
            zero_point,
            i8_range: problem.i8_range,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { quantize(isa, pool, &call) }
    }
}
