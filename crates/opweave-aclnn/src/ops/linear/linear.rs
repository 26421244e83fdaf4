// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `linear` by `aclnnMatmulWeightNz` on a weight in blocks, `aclnnMatmul` on a plain one and `aclnnAddmm` with a bias.

use opweave_contract::ops::linear::{LINEAR, Linear, LinearArgs, LinearProblem, WeightForm};
use opweave_registry::{Domain, Needs, PackedLayout};
use opweave_tensor::{DType, RawTensor};

use crate::descriptor::Form;
use crate::operation::{Attributes, COPY, Operation, operation};
use crate::program::{ALIGN, Program};
use crate::vendor::{Row, Vendor};

operation! {
    /// `out = self @ mat2`; either may have gaps or be transposed by its strides, `out` may not.
    MATMUL = "aclnnMatmul"(tensor(0), tensor(1), tensor(2), math)
}
operation! {
    /// `out = self @ mat2`, `mat2` in blocks: as they lie where its rows are contiguous, transposed where its columns are.
    MATMUL_BLOCKS = "aclnnMatmulWeightNz"(tensor(0), tensor(1), tensor(2), math)
}
operation! {
    /// `out = beta * self + alpha * (mat1 @ mat2)`.
    ADD_MATMUL = "aclnnAddmm"(tensor(0), tensor(1), tensor(2), scalar, scalar, tensor(3), math)
}
operation! {
    /// `dst = src` in another format; neither may have gaps.
    FORMAT_CAST = "aclnnNpuFormatCast"(tensor(0), tensor(1))
}

/// Whether the weight of this problem is packed: 16 bits, and neither a row nor a column alone, which the vendor excludes.
fn in_blocks(problem: &LinearProblem) -> bool {
    problem.weight_form == WeightForm::Packed
        && problem.weight_dtype.bits() == 16
        && problem.in_features > 1
        && problem.out_features > 1
}

impl Vendor for Linear {
    const OPERATIONS: &'static [&'static Operation] = &[&MATMUL, &MATMUL_BLOCKS, &ADD_MATMUL, &FORMAT_CAST, &COPY];

    /// All in one dtype. What the vendor documents of a bias in 16 bits leaves open whether the sum is rounded before it, and
    /// nothing is said of a sum without terms. f32 is not narrowed (`KEEP_DTYPE`). There is no activation. That the products are
    /// deterministic is documented of other devices alone.
    fn row() -> Row {
        let (f32, f16, bf16) = (Some(DType::F32), Some(DType::F16), Some(DType::BF16));
        let covered = [(f32, None), (f32, f32), (f16, None), (bf16, None)];
        let covered = covered.map(|(dtype, bias)| vec![dtype, dtype, bias, dtype]).into();
        let needs = Needs::default()
            .with(Domain::DTypes(vec!["dtype", "weight_dtype", "bias_dtype", "output_dtype"], covered))
            .with(Domain::Words("activation", vec!["none"]))
            .with(Domain::Range("in_features", 1, 1 << 30));
        Row { deterministic: false, ..Row::new(&LINEAR, needs) }
    }

    fn program(problem: &LinearProblem, args: &LinearArgs, program: &mut Program) {
        if args.input.dim(0) == 0 {
            return;
        }
        let (k, n) = (problem.in_features, problem.out_features);
        let blocks = in_blocks(problem);
        let (form, right) = if blocks { (Form::Blocks, k as isize) } else { (Form::Plain, args.weight.stride(0)) };
        let weight = program.matrix(&args.weight, problem.weight_dtype, (k, n), (1, right), form);
        let input = program.argument(&args.input);
        let out = program.output(&args.out, &[&args.input], true);
        let attributes = Attributes { real: 1.0, ..Attributes::default() };
        match &args.bias {
            Some(bias) => program.push(&ADD_MATMUL, attributes, &[program.argument(bias), input, weight, out]),
            None if blocks => program.push(&MATMUL_BLOCKS, attributes, &[input, weight, out]),
            None => program.push(&MATMUL, attributes, &[input, weight, out]),
        }
        program.deliver(out, &args.out);
    }

    /// The weight as it is, `[out_features, in_features]`, in blocks.
    fn layout(problem: &LinearProblem) -> Option<PackedLayout> {
        if !in_blocks(problem) {
            return None;
        }
        let (k, n, dtype) = (problem.in_features, problem.out_features, problem.weight_dtype);
        let bytes = Form::blocks(n, k).into_iter().try_fold(dtype.bits() / 8, usize::checked_mul)?;
        Some(PackedLayout::new(format!("npu.aclnn.linear FRACTAL_NZ {dtype} out={n} in={k}"), bytes, ALIGN))
    }

    fn pack(problem: &LinearProblem, source: &RawTensor, target: &RawTensor, program: &mut Program) {
        let (k, n) = (problem.in_features, problem.out_features);
        let plain = program.contiguous(source);
        let blocks = program.matrix(target, problem.weight_dtype, (n, k), (k as isize, 1), Form::Blocks);
        program.push(&FORMAT_CAST, Attributes::default(), &[plain, blocks]);
    }
}
