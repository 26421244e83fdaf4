// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `fused_add_rms_norm` by `aclnnAddRmsNorm`.

use opweave_contract::ops::normalization::{
    FUSED_ADD_RMS_NORM_ROUNDED_AFTER_ROUNDING, FusedAddRmsNorm, FusedAddRmsNormArgs, FusedAddRmsNormProblem,
};
use opweave_registry::{Domain, Needs};
use opweave_tensor::DType;

use super::common;
use crate::operation::{Attributes, COPY, Operation, operation};
use crate::program::Program;
use crate::vendor::{Row, Vendor};

operation! {
    /// `xOut = x1 + x2`, `yOut = xOut / sqrt(mean(xOut^2) + epsilon) * gamma`, and the reciprocal root in f32.
    ADD_RMS_NORM = "aclnnAddRmsNorm"(tensor(0), tensor(1), tensor(2), real, tensor(3), tensor(4), tensor(5))
}

impl Vendor for FusedAddRmsNorm {
    const OPERATIONS: &'static [&'static Operation] = &[&ADD_RMS_NORM, &common::ONE, &COPY];

    /// In f16 the vendor's published kernel adds in f16, takes the norm of that, rounds it, and multiplies by the weight in f16.
    ///
    /// As of `rms_norm`; the weight has the dtype of the input.
    fn row() -> Row {
        let f16 = Some(DType::F16);
        let needs =
            Needs::default().with(Domain::DTypes(vec!["dtype", "weight_dtype"], vec![vec![f16, f16], vec![f16, None]]));
        Row::new(&FUSED_ADD_RMS_NORM_ROUNDED_AFTER_ROUNDING, needs)
    }

    fn program(problem: &FusedAddRmsNormProblem, args: &FusedAddRmsNormArgs, program: &mut Program) {
        let tokens = args.input.dim(0);
        if tokens == 0 || problem.hidden_size == 0 {
            return;
        }
        let (input, residual) = (program.argument(&args.input), program.argument(&args.residual));
        let weight = common::weight(args.weight.as_ref(), &args.input, problem.dtype, program);
        let reads = [&args.input, &args.residual];
        let out = program.output(&args.out, &reads, false);
        let sum = program.output(&args.residual, &reads, false);
        let root = program.scratch_tensor(&args.input, DType::F32, &[tokens, 1]);
        let epsilon = Attributes { real: f64::from(args.epsilon), ..Attributes::default() };
        program.push(&ADD_RMS_NORM, epsilon, &[input, residual, weight, out, root, sum]);
        program.deliver(out, &args.out);
        program.deliver(sum, &args.residual);
    }
}
