// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Two parts of one attention, put together.

use opweave_contract::ops::attention::{LseBase, MergeAttentionStates, MergeAttentionStatesProblem};
use opweave_tensor::DType;

use super::in_base;
use crate::{Arguments, Reference, ReferenceError, round};

/// One query of one head: the state of both parts.
pub fn row(base: LseBase, a: (&[f64], f64), b: (&[f64], f64), out: &mut [f64]) -> f64 {
    let empty = |lse: f64| lse == f64::NEG_INFINITY;
    match (empty(a.1), empty(b.1)) {
        (true, true) => out.fill(0.0),
        (true, false) => out.copy_from_slice(b.0),
        (false, true) => out.copy_from_slice(a.0),
        (false, false) => {
            let natural = |lse: f64| if base == LseBase::Two { lse * std::f64::consts::LN_2 } else { lse };
            let largest = if a.1 > b.1 { a.1 } else { b.1 };
            let [of_a, of_b] = [a.1, b.1].map(|lse| natural(lse - largest).exp());
            for ((out, a), b) in out.iter_mut().zip(a.0).zip(b.0) {
                *out = (of_a * a + of_b * b) / (of_a + of_b);
            }
            return largest + in_base(base, (of_a + of_b).ln());
        }
    }
    if empty(a.1) { b.1 } else { a.1 }
}

impl Reference for MergeAttentionStates {
    fn reference(problem: &MergeAttentionStatesProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let width = problem.head_dim_v;
        let (mut out, mut lse) = (arguments.take("out")?, arguments.take("lse")?);
        let rows = lse.data.len();
        let (v_a, v_b) = (arguments.exactly("v_a", rows * width)?, arguments.exactly("v_b", rows * width)?);
        let (lse_a, lse_b) = (arguments.exactly("lse_a", rows)?, arguments.exactly("lse_b", rows)?);
        for (at, out) in out.data.chunks_mut(width).enumerate() {
            let part = at * width..(at + 1) * width;
            let merged = row(problem.lse_base, (&v_a[part.clone()], lse_a[at]), (&v_b[part], lse_b[at]), out);
            lse.data[at] = round(DType::F32, merged);
            out.iter_mut().for_each(|value| *value = round(problem.dtype, *value));
        }
        arguments.put("out", out);
        arguments.put("lse", lse);
        Ok(())
    }
}
