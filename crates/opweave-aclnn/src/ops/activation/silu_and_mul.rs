// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `silu_and_mul` by `aclnnSwiGlu`.

use opweave_contract::ops::activation::{SILU_AND_MUL_F32, SiluAndMul, SiluAndMulArgs, SiluAndMulProblem};
use opweave_registry::{Domain, Needs};
use opweave_tensor::DType;

use crate::operation::{Attributes, COPY, Operation, operation};
use crate::program::Program;
use crate::vendor::{Row, Vendor};

operation! {
    /// `out = swish(first half) * second half`, the halves of a dimension. Takes no tensor with gaps.
    SWI_GLU = "aclnnSwiGlu"(tensor(0), int, tensor(1))
}

impl Vendor for SiluAndMul {
    const OPERATIONS: &'static [&'static Operation] = &[&SWI_GLU, &COPY];

    /// The activation is not rounded on its own.
    ///
    /// Gate and up stand in one tensor.
    fn rows() -> Vec<Row> {
        let dtypes = [DType::F32, DType::F16, DType::BF16].map(|dtype| vec![Some(dtype)]).into();
        let needs =
            Needs::default().with(Domain::DTypes(vec!["dtype"], dtypes)).with(Domain::Words("halves", vec!["packed"]));
        Row::only(&SILU_AND_MUL_F32, needs)
    }

    fn program(problem: &SiluAndMulProblem, args: &SiluAndMulArgs, program: &mut Program) {
        if args.input.dim(0) == 0 || problem.intermediate_size == 0 {
            return;
        }
        let input = program.contiguous(&args.input);
        let out = program.output(&args.out, &[&args.input], true);
        program.push(&SWI_GLU, Attributes { int: 1, ..Attributes::default() }, &[input, out]);
        program.deliver(out, &args.out);
    }
}
