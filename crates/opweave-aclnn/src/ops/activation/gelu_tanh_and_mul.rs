// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `gelu_tanh_and_mul` by `aclnnGeGluV3`.

use opweave_contract::ops::activation::{
    GELU_TANH_AND_MUL_ROUNDED, GeluTanhAndMul, GeluTanhAndMulArgs, GeluTanhAndMulProblem,
};
use opweave_registry::{Domain, Needs};
use opweave_tensor::DType;

use super::common;
use crate::operation::{Attributes, COPY, Operation, operation};
use crate::program::Program;
use crate::vendor::{Row, Vendor};

operation! {
    /// `out = gelu(first half) * second half` of the last dimension, and the activation alone; by `tanh` for 1.
    GE_GLU = "aclnnGeGluV3"(tensor(0), last, int, left, tensor(1), tensor(2))
}

impl Vendor for GeluTanhAndMul {
    const OPERATIONS: &'static [&'static Operation] = &[&GE_GLU, &COPY];

    /// The vendor's published kernel takes the activation in f32. In f16 it rounds that and multiplies in f16. In bf16 it multiplies
    /// in f32, but as of `silu_and_mul` the tail is lost, and in f32 the rounding of the exponent shows besides.
    fn row() -> Row {
        let needs = Needs::default().with(Domain::DTypes(vec!["dtype"], vec![vec![Some(DType::F16)]]));
        Row::new(&GELU_TANH_AND_MUL_ROUNDED, needs)
    }

    fn program(problem: &GeluTanhAndMulProblem, args: &GeluTanhAndMulArgs, program: &mut Program) {
        if args.input.dim(0) == 0 || problem.intermediate_size == 0 {
            return;
        }
        let input = common::halves(&args.input, args.up.as_ref(), false, program);
        let out = program.output(&args.out, &[&args.input], false);
        let activation = program.scratch_tensor(&args.out, problem.dtype, args.out.shape());
        program.push(&GE_GLU, Attributes::number(1), &[input, out, activation]);
        program.deliver(out, &args.out);
    }
}
