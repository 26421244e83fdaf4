// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows of a table, by index.

use opweave_contract::ops::embedding::{Embedding, EmbeddingProblem, ID_OUTSIDE_THE_VOCABULARY};

use crate::{Arguments, Reference, ReferenceError};

/// One row: the row of `table` that belongs to `id`, or zeros; `false` where the id does not exist.
pub fn row(problem: &EmbeddingProblem, id: f64, table: &[f64], out: &mut [f64]) -> bool {
    out.fill(0.0);
    let exists = (0.0..problem.vocab_size as f64).contains(&id);
    let (first, end) = (problem.shard_start as f64, problem.shard_end as f64);
    if exists && id >= first && id < end {
        let place = (id - first) as usize;
        out.copy_from_slice(&table[place * problem.hidden_size..(place + 1) * problem.hidden_size]);
    }
    exists
}

impl Reference for Embedding {
    fn reference(problem: &EmbeddingProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let width = problem.hidden_size;
        let mut out = arguments.take("out")?;
        let table = arguments.exactly("table", (problem.shard_end - problem.shard_start) * width)?;
        let ids = arguments.exactly("ids", out.data.len() / width)?;
        let mut faults = Vec::new();
        for (token, (id, out)) in ids.iter().zip(out.data.chunks_mut(width)).enumerate() {
            if !row(problem, *id, table, out) {
                faults.push(token);
            }
        }
        for token in faults {
            arguments.fault(ID_OUTSIDE_THE_VOCABULARY, token)?;
        }
        arguments.put("out", out);
        Ok(())
    }
}
