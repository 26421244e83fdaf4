// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `linear_wna16` on the CPU.

use opweave_contract::ops::linear::{LinearWna16, LinearWna16Args, LinearWna16Problem};
use opweave_device::cpu::Parallel;
use opweave_registry::PackedLayout;
use opweave_tensor::RawTensor;

use super::{layout, rows, weight};
use crate::linear::{Layer, QuantizedCall, Scales, code_bytes, pack_codes, quantized_linear};
use crate::native::Native;
use crate::simd::Isa;

impl Native for LinearWna16 {
    fn layout(problem: &LinearWna16Problem, _: Isa) -> Option<PackedLayout> {
        let &LinearWna16Problem { in_features, out_features, bits, weight_form, .. } = problem;
        let bytes = code_bytes(bits, in_features, out_features);
        layout(weight_form, &format!("codes of {bits} bits"), (in_features, out_features), bytes)
    }

    unsafe fn pack(problem: &LinearWna16Problem, source: &RawTensor, target: *mut u8, isa: Isa, pool: &dyn Parallel) {
        let shape = (problem.in_features, problem.out_features);
        // SAFETY: the caller's clauses.
        unsafe { pack_codes(isa, pool, (rows(source), problem.bits), shape, target) }
    }

    unsafe fn run(problem: &LinearWna16Problem, args: &LinearWna16Args, isa: Isa, pool: &dyn Parallel) {
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
        let scales = Scales {
            group_size: problem.group_size,
            dtype: problem.scale_dtype,
            scales: rows(&args.scales),
            offset: problem.offset,
            // Without offsets nothing is read through this.
            offsets: rows(args.offsets.as_ref().unwrap_or(&args.scales)),
        };
        let (bits, input_mode) = (problem.bits, problem.input_mode);
        let call = QuantizedCall { layer, weight: weight(&args.weight), bits, scales, input_mode };
        // SAFETY: the caller's clauses; the check held the views to the problem and to the layout.
        unsafe { quantized_linear(isa, pool, &call) }
    }
}
