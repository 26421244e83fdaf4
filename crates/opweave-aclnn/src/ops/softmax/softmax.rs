// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `softmax` by `aclnnSoftmax` in f32.

use opweave_contract::OpContract;
use opweave_contract::ops::softmax::{SOFTMAX, Softmax, SoftmaxArgs, SoftmaxProblem};
use opweave_registry::{Domain, Needs};
use opweave_tensor::DType;

use crate::descriptor::code_of;
use crate::operation::{Attributes, CAST, COPY, DIVIDE, LARGEST, Operation, SUBTRACT, operation};
use crate::program::Program;
use crate::vendor::Vendor;

operation! {
    /// `out = e^(x - max) / sum(e^(x - max))` along a dimension.
    SOFTMAX_OF_ROWS = "aclnnSoftmax"(tensor(0), int, tensor(1))
}

impl Vendor for Softmax {
    const OPERATIONS: &'static [&'static Operation] = &[&SOFTMAX_OF_ROWS, &CAST, &LARGEST, &SUBTRACT, &DIVIDE, &COPY];

    fn contracts() -> Vec<&'static OpContract> {
        vec![&SOFTMAX]
    }

    fn needs() -> Needs {
        let dtypes = [DType::F32, DType::F16, DType::BF16].map(|dtype| vec![Some(dtype)]).into();
        Needs::default().with(Domain::DTypes(vec!["dtype"], dtypes))
    }

    /// The vendor's operator has no temperature, and says nothing of the dtype in which it sums: logits are shifted by the
    /// largest, divided and summed in f32, and rounded once. Divided before they are shifted they would overflow where it is cold.
    fn program(problem: &SoftmaxProblem, args: &SoftmaxArgs, program: &mut Program) {
        if args.input.dim(0) == 0 || problem.width == 0 {
            return;
        }
        let shape = [args.input.dim(0), args.input.dim(1)];
        let dtype = |dtype| Attributes { int: code_of(dtype).unwrap_or(-1).into(), ..Attributes::default() };
        let mut logits = program.argument(&args.input);
        if problem.dtype != DType::F32 {
            let wide = program.scratch_tensor(&args.input, DType::F32, &shape);
            program.push(&CAST, dtype(DType::F32), &[logits, wide]);
            logits = wide;
        }
        if args.temperature.to_bits() != 1.0_f32.to_bits() {
            let number = |real: f32| Attributes { real: f64::from(real), int: 1 };
            let largest = program.scratch_tensor(&args.input, DType::F32, &[shape[0], 1]);
            program.push(&LARGEST, number(0.0), &[logits, largest]);
            let shifted = program.scratch_tensor(&args.input, DType::F32, &shape);
            program.push(&SUBTRACT, number(1.0), &[logits, largest, shifted]);
            let divided = program.scratch_tensor(&args.input, DType::F32, &shape);
            program.push(&DIVIDE, number(args.temperature), &[shifted, divided]);
            logits = divided;
        }
        let out = if problem.out_dtype == DType::F32 {
            program.output(&args.out, &[&args.input], false)
        } else {
            program.scratch_tensor(&args.input, DType::F32, &shape)
        };
        program.push(&SOFTMAX_OF_ROWS, Attributes { int: 1, ..Attributes::default() }, &[logits, out]);
        if problem.out_dtype == DType::F32 {
            program.deliver(out, &args.out);
        } else {
            let rounded = program.argument(&args.out);
            program.push(&CAST, dtype(problem.out_dtype), &[out, rounded]);
        }
    }
}
