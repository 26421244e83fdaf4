// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Gated activations.

opweave_contract::activation_operators!(modules);

use opweave_contract::ops::activation::{ActivationProduct, Halves};
use opweave_tensor::DType;

use crate::{Arguments, ReferenceError, round};

/// `out = activation(gate) * up` for rows of `width`.
fn gated(
    arguments: &mut Arguments,
    width: usize,
    dtype: DType,
    halves: Halves,
    product: ActivationProduct,
    activation: fn(f64) -> f64,
) -> Result<(), ReferenceError> {
    let mut out = arguments.take("out")?;
    let columns = halves.columns(width);
    let input = arguments.exactly("input", out.data.len() / width * columns)?;
    let up = arguments.optional("up", out.data.len())?;
    for (row, out) in out.data.chunks_mut(width).enumerate() {
        let input = &input[row * columns..][..columns];
        let up = up.map_or(&input[columns - width..], |up| &up[row * width..][..width]);
        for ((out, &gate), &up) in out.iter_mut().zip(input).zip(up) {
            let activated = match product {
                ActivationProduct::F32 => activation(gate),
                ActivationProduct::RoundedActivation => round(dtype, activation(gate)),
            };
            *out = round(dtype, activated * up);
        }
    }
    arguments.put("out", out);
    Ok(())
}
