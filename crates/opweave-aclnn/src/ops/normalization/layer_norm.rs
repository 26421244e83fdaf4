// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `layer_norm` by `aclnnLayerNorm`.

use opweave_contract::ops::normalization::{LAYER_NORM, LayerNorm, LayerNormArgs, LayerNormProblem};
use opweave_registry::{Domain, Needs};
use opweave_tensor::DType;

use crate::operation::{Attributes, COPY, Operation, operation};
use crate::program::Program;
use crate::vendor::{Row, Vendor};

operation! {
    /// `out = (input - mean) / sqrt(variance + eps) * weight + bias` over the last dimensions; mean and root are not asked for.
    LAYER_NORM_OF_ROWS = "aclnnLayerNorm"(tensor(0), ints, tensor(1), tensor(2), real, tensor(3), tensor(4), tensor(5))
    ints |attributes| attributes.int;
}

impl Vendor for LayerNorm {
    const OPERATIONS: &'static [&'static Operation] = &[&LAYER_NORM_OF_ROWS, &COPY];

    /// Weight and bias, where both are there, have one dtype: that of the input or f32. As of `rms_norm`, squares of f16 are the
    /// only ones that cannot overflow.
    fn row() -> Row {
        let (f16, f32) = (Some(DType::F16), Some(DType::F32));
        let covered = [(f16, f16), (f32, f32), (None, f16), (None, f32), (f16, None), (f32, None), (None, None)];
        let covered = covered.map(|(weight, bias)| vec![f16, weight, bias]).into();
        let needs = Needs::default().with(Domain::DTypes(vec!["dtype", "weight_dtype", "bias_dtype"], covered));
        Row::new(&LAYER_NORM, needs)
    }

    fn program(problem: &LayerNormProblem, args: &LayerNormArgs, program: &mut Program) {
        if args.input.dim(0) == 0 || problem.hidden_size == 0 {
            return;
        }
        let input = program.argument(&args.input);
        let weight = args.weight.as_ref().and_then(|weight| program.argument(weight));
        let bias = args.bias.as_ref().and_then(|bias| program.argument(bias));
        let out = program.output(&args.out, &[&args.input], false);
        let attributes =
            Attributes { real: f64::from(args.epsilon), int: problem.hidden_size as i64, ..Attributes::default() };
        program.push(&LAYER_NORM_OF_ROWS, attributes, &[input, weight, bias, out, None, None]);
        program.deliver(out, &args.out);
    }
}
