// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Probabilities from logits.

opweave_contract::softmax_operators!(modules);

use opweave_tensor::DType;

use crate::{Arguments, ReferenceError, round};

/// Applies `row` to the logits of each row, shifted by their maximum and divided by the temperature, and rounds to `dtype`.
fn by_row(
    arguments: &mut Arguments,
    width: usize,
    dtype: DType,
    row: fn(&[f64], &mut [f64]),
) -> Result<(), ReferenceError> {
    let mut out = arguments.take("out")?;
    let input = arguments.exactly("input", out.data.len())?;
    let temperature = arguments.scalar("temperature")?;
    for (input, out) in input.chunks(width).zip(out.data.chunks_mut(width)) {
        // A maximum that drops NaN is good enough: the NaN itself stays in its place, and then in the sum.
        let largest = input.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shifted: Vec<f64> = input.iter().map(|x| (x - largest) / temperature).collect();
        row(&shifted, out);
        out.iter_mut().for_each(|out| *out = round(dtype, *out));
    }
    arguments.put("out", out);
    Ok(())
}
