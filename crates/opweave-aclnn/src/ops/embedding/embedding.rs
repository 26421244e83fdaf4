// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `embedding` by `aclnnEmbedding`.

use opweave_contract::Operator;
use opweave_contract::ops::embedding::{EMBEDDING, Embedding, EmbeddingArgs, EmbeddingProblem};
use opweave_registry::{Domain, Needs};
use opweave_tensor::DType;

use crate::indices::{self, OPERATIONS as I};
use crate::operation::{Attributes, FILL_NUMBER, GATHER, Operation, ZERO, operation};
use crate::program::Program;
use crate::vendor::{Row, Vendor};

operation! {
    /// `out = self + alpha * other`, numbers.
    ADD_NUMBER = "aclnnAdds"(tensor(0), integer, upper, tensor(1))
}
impl Vendor for Embedding {
    const OPERATIONS: &'static [&'static Operation] =
        &[I[0], I[1], I[2], I[3], I[4], I[5], I[6], I[7], I[8], &GATHER, &ADD_NUMBER, &FILL_NUMBER, &ZERO];

    /// Ids are i32 or i64.
    fn row() -> Row {
        let (f32, f16, bf16) = (Some(DType::F32), Some(DType::F16), Some(DType::BF16));
        let ids = [Some(DType::I32), Some(DType::I64)];
        let covered = [f32, f16, bf16].into_iter().flat_map(|dtype| ids.map(|ids| vec![dtype, ids])).collect();
        Row::new(&EMBEDDING, Needs::default().with(Domain::DTypes(vec!["dtype", "id_dtype"], covered)))
    }

    /// Ids of other shards, and those outside the vocabulary, are drawn into the shard, and their rows are cleared afterwards.
    fn program(problem: &EmbeddingProblem, args: &EmbeddingArgs, program: &mut Program) {
        let tokens = args.ids.dim(0);
        if tokens == 0 {
            return;
        }
        let (start, end, vocabulary) = (problem.shard_start, problem.shard_end, problem.vocab_size);
        let ids = program.argument(&args.ids);
        let whole = (start, end) == (0, vocabulary);
        let mut outside = None;
        if !whole && program.faults().is_some() {
            outside = indices::inside(ids, (0, vocabulary - 1), program).1;
        }
        let out = program.argument(&args.out);
        if start == end {
            program.push(&ZERO, Attributes::default(), &[out]);
        } else {
            let (drawn, foreign) = indices::inside(ids, (start, end - 1), program);
            let mut rows = drawn;
            if start > 0 {
                rows = program.scratch_tensor(&args.ids, args.ids.dtype(), &[tokens]);
                let back = Attributes { int: -(start as i64), limit: 1, ..Attributes::default() };
                program.push(&ADD_NUMBER, back, &[drawn, rows]);
            }
            let table = program.argument(&args.table);
            program.push(&GATHER, Attributes::default(), &[table, rows, out]);
            let column = program.reshaped(foreign, DType::Bool, &[tokens, 1]);
            program.push(&FILL_NUMBER, Attributes::default(), &[out, column]);
            if whole {
                outside = foreign;
            }
        }
        indices::raise(Embedding::NAME, 0, outside, program);
    }
}
