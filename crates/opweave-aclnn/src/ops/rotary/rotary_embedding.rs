// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `rotary_embedding` by `aclnnRopeWithSinCosCache`.

use opweave_contract::Operator;
use opweave_contract::ops::rotary::{
    ROTARY_EMBEDDING_F32, RotaryEmbedding, RotaryEmbeddingArgs, RotaryEmbeddingProblem, RotaryStyle,
};
use opweave_registry::{Domain, Needs};
use opweave_tensor::{DType, RawTensor};

use crate::descriptor::Form;
use crate::indices::{self, OPERATIONS as I};
use crate::operation::{Attributes, CAST, COPY, Operation, WHERE, operation};
use crate::program::{Operand, Program};
use crate::vendor::{Row, Vendor};

operation! {
    /// Queries and keys turned by the rows of `cosSinCache` that `positions` name, which must all be inside; in rows of all heads.
    ROPE = "aclnnRopeWithSinCosCache"(tensor(0), tensor(1), tensor(2), tensor(3), absent, int, flag, tensor(4), tensor(5))
}
/// Heads of each token in one row: in place where no gap is between heads.
fn rows(view: &RawTensor, program: &mut Program) -> Option<Operand> {
    let (tokens, width) = (view.dim(0), view.dim(1) * view.dim(2));
    if view.dim(1) == 1 || view.stride(1) == view.dim(2) as isize {
        return program.matrix(view, view.dtype(), (tokens, width), (view.stride(0), 1), Form::Plain);
    }
    let packed = program.contiguous(view);
    program.reshaped(packed, view.dtype(), &[tokens, width])
}

impl Vendor for RotaryEmbedding {
    const OPERATIONS: &'static [&'static Operation] =
        &[I[0], I[1], I[2], I[3], I[4], I[5], I[6], I[7], I[8], &ROPE, &WHERE, &CAST, &COPY];

    /// The published kernel computes in f32 and rounds once. Its tensors have one dtype: beside a cache in f32, queries and keys
    /// are widened first. Heads and what is turned of them are a multiple of 32 features, in f32 too, where the vendor documents
    /// 16.
    fn row() -> Row {
        let all = [DType::F32, DType::F16, DType::BF16].map(Some);
        let keys = all.into_iter().flat_map(|dtype| [dtype, None].map(|key| (dtype, key)));
        let covered = keys.flat_map(|(dtype, key)| [dtype, Some(DType::F32)].map(|cache| vec![dtype, key, cache]));
        let mut covered: Vec<_> = covered.collect();
        covered.dedup();
        let needs = Needs::default()
            .with(Domain::DTypes(vec!["dtype", "key_dtype", "cache_dtype"], covered))
            .with(Domain::Multiple("head_dim", 32))
            .with(Domain::Multiple("rotary_dim", 32));
        Row::new(&ROTARY_EMBEDDING_F32, needs)
    }

    /// Positions outside the cache are drawn inside, and their tokens are put back as they were.
    fn program(problem: &RotaryEmbeddingProblem, args: &RotaryEmbeddingArgs, program: &mut Program) {
        let (tokens, length) = (args.positions.dim(0), args.cos_sin_cache.dim(0));
        if tokens == 0 {
            return;
        }
        let positions = program.argument(&args.positions);
        let positions = program.cast(positions, DType::I64);
        if length == 0 {
            let outside = indices::all(positions, program);
            return indices::raise(RotaryEmbedding::NAME, 0, outside, program);
        }
        let (drawn, outside) = indices::inside(positions, (0, length - 1), program);
        // The operator has keys always: queries in their place, where there are none.
        let views = [&args.q, args.k.as_ref().unwrap_or(&args.q)];
        let before = views.map(|view| rows(view, program));
        let wide = before.map(|rows| program.cast(rows, problem.cache_dtype));
        let shape = views.map(|view| [tokens, view.dim(1) * view.dim(2)]);
        let turned = [0, 1].map(|at| program.scratch_tensor(views[at], problem.cache_dtype, &shape[at]));
        let cache = program.argument(&args.cos_sin_cache);
        let style = Attributes {
            int: problem.head_dim as i64,
            flag: problem.style == RotaryStyle::Neox,
            ..Attributes::default()
        };
        program.push(&ROPE, style, &[drawn, wide[0], wide[1], cache, turned[0], turned[1]]);
        let column = program.reshaped(outside, DType::Bool, &[tokens, 1]);
        for at in 0..if args.k.is_some() { 2 } else { 1 } {
            let rounded = program.cast(turned[at], problem.dtype);
            let chosen = program.scratch_tensor(views[at], problem.dtype, &shape[at]);
            program.push(&WHERE, Attributes::default(), &[column, before[at], rounded, chosen]);
            let heads = program.reshaped(chosen, problem.dtype, views[at].shape());
            let own = program.argument(views[at]);
            program.push(&COPY, Attributes::default(), &[own, heads]);
        }
        indices::raise(RotaryEmbedding::NAME, 0, outside, program);
    }
}
