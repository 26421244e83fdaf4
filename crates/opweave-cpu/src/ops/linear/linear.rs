// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `linear` on the CPU.

use opweave_contract::ops::linear::{Linear, LinearArgs, LinearProblem};
use opweave_device::cpu::Parallel;
use opweave_registry::PackedLayout;
use opweave_tensor::{DType, RawTensor};

use super::{layout, rows, weight};
use crate::linear::{FloatCall, Layer, float_bytes, float_linear, pack_floats};
use crate::native::Native;
use crate::simd::Isa;

impl Native for Linear {
    fn layout(problem: &LinearProblem, isa: Isa) -> Option<PackedLayout> {
        let &LinearProblem { in_features, out_features, weight_dtype, weight_form, .. } = problem;
        // The order within a line is that of the vectors that read it, where it is one.
        let order = if weight_dtype == DType::BF16 { isa.name() } else { "in order" };
        let what = format!("{weight_dtype} {order}");
        let bytes = float_bytes(weight_dtype, in_features, out_features);
        layout(weight_form, &what, (in_features, out_features), bytes)
    }

    unsafe fn pack(problem: &LinearProblem, source: &RawTensor, target: *mut u8, isa: Isa, pool: &dyn Parallel) {
        let shape = (problem.in_features, problem.out_features);
        // SAFETY: the caller's clauses.
        unsafe { pack_floats(isa, pool, (rows(source), problem.weight_dtype), shape, target) }
    }

    unsafe fn run(problem: &LinearProblem, args: &LinearArgs, isa: Isa, pool: &dyn Parallel) {
        let layer = Layer {
            tokens: args.input.dim(0),
            in_features: problem.in_features,
            out_features: problem.out_features,
            dtype: problem.dtype,
            input: rows(&args.input),
            bias: args.bias.map(|bias| (bias.data().cast_const(), bias.dtype())),
            out_dtype: problem.output_dtype,
            out: rows(&args.out),
            activation: problem.activation,
        };
        let call = FloatCall { layer, weight: weight(&args.weight), weight_dtype: problem.weight_dtype };
        // SAFETY: the caller's clauses; the check held the views to the problem and to the layout.
        unsafe { float_linear(isa, pool, &call) }
    }
}
