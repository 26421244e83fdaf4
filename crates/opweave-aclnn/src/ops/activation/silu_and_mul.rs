// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `silu_and_mul` by `aclnnSwiGlu`.

use opweave_contract::ops::activation::{SILU_AND_MUL_F32, SiluAndMul, SiluAndMulArgs, SiluAndMulProblem};
use opweave_registry::{Domain, Needs};
use opweave_tensor::DType;

use super::common;
use crate::operation::{Attributes, COPY, Operation, operation};
use crate::program::Program;
use crate::vendor::{Row, Vendor};

operation! {
    /// `out = swish(first half) * second half`, the halves of a dimension. Takes no tensor with gaps.
    SWI_GLU = "aclnnSwiGlu"(tensor(0), int, tensor(1))
}

impl Vendor for SiluAndMul {
    const OPERATIONS: &'static [&'static Operation] = &[&SWI_GLU, &COPY];

    /// The activation is not rounded on its own. The published kernel divides by `1 + e^-x` in f32, whose exponential overflows
    /// while f32 and bf16 can still hold the result: the contract asks for that tail.
    fn row() -> Row {
        let needs = Needs::default().with(Domain::DTypes(vec!["dtype"], vec![vec![Some(DType::F16)]]));
        Row::new(&SILU_AND_MUL_F32, needs)
    }

    fn program(problem: &SiluAndMulProblem, args: &SiluAndMulArgs, program: &mut Program) {
        if args.input.dim(0) == 0 || problem.intermediate_size == 0 {
            return;
        }
        let input = common::halves(&args.input, args.up.as_ref(), true, program);
        let out = program.output(&args.out, &[&args.input], true);
        program.push(&SWI_GLU, Attributes::number(1), &[input, out]);
        program.deliver(out, &args.out);
    }
}
