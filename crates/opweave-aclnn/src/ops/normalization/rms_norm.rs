// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `rms_norm` by `aclnnRmsNorm`.

use opweave_contract::ops::normalization::{RMS_NORM_F32, RmsNorm, RmsNormArgs, RmsNormProblem};
use opweave_registry::{Domain, Needs};
use opweave_tensor::DType;

use super::common;
use crate::operation::{Attributes, COPY, Operation, operation};
use crate::program::Program;
use crate::vendor::{Row, Vendor};

operation! {
    /// `yOut = x / sqrt(mean(x^2) + epsilon) * gamma`, and the reciprocal root in f32 beside it.
    RMS_NORM = "aclnnRmsNorm"(tensor(0), tensor(1), real, tensor(2), tensor(3))
}

impl Vendor for RmsNorm {
    const OPERATIONS: &'static [&'static Operation] = &[&RMS_NORM, &common::ONE, &COPY];

    /// The vendor's published kernel multiplies the weight in f32 and rounds once.
    ///
    /// The kernel squares in f32 as it is, so that of the vendor's three dtypes only f16 has no row whose
    /// squares overflow, which the contract forbids.
    fn row() -> Row {
        let f16 = Some(DType::F16);
        let needs = Needs::default().with(Domain::DTypes(
            vec!["dtype", "weight_dtype"],
            vec![vec![f16, f16], vec![f16, Some(DType::F32)], vec![f16, None]],
        ));
        Row::new(&RMS_NORM_F32, needs)
    }

    fn program(problem: &RmsNormProblem, args: &RmsNormArgs, program: &mut Program) {
        let tokens = args.input.dim(0);
        if tokens == 0 || problem.hidden_size == 0 {
            return;
        }
        let input = program.argument(&args.input);
        let weight = common::weight(args.weight.as_ref(), &args.input, problem.dtype, program);
        let out = program.output(&args.out, &[&args.input], false);
        let root = program.scratch_tensor(&args.input, DType::F32, &[tokens, 1]);
        let epsilon = Attributes { real: f64::from(args.epsilon), ..Attributes::default() };
        program.push(&RMS_NORM, epsilon, &[input, weight, out, root]);
        program.deliver(out, &args.out);
    }
}
