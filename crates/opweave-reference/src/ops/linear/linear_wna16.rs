// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A linear layer with a weight of codes.

use opweave_contract::ops::linear::{INPUT_BLOCK, InputMode, LinearWna16, LinearWna16Problem, WeightOffset};
use opweave_contract::ops::quantization::ScaleFormat;
use opweave_tensor::DType;

use super::{activate, dot};
use crate::ops::quantization::{encode_row, row_scale};
use crate::{Arguments, Reference, ReferenceError, round};

/// The weight as numbers, `[out_features, in_features]`. Of two codes of 4 bits in a byte, that of the even column is the
/// lower half. `codes` are bytes in rows, `scales` and `offsets` are `[groups, out_features]`.
pub fn weight(problem: &LinearWna16Problem, codes: &[f64], scales: &[f64], offsets: Option<&[f64]>) -> Vec<f64> {
    let &LinearWna16Problem { in_features, out_features, bits, group_size, offset, .. } = problem;
    let row_bytes = in_features * bits / 8;
    let middle = 2_f64.powi(bits as i32 - 1);
    let mut numbers = Vec::with_capacity(in_features * out_features);
    for n in 0..out_features {
        for k in 0..in_features {
            let code = if bits == 4 {
                let byte = codes[n * row_bytes + k / 2];
                if k % 2 == 0 { byte % 16.0 } else { (byte / 16.0).floor() }
            } else {
                codes[n * row_bytes + k]
            };
            let at = k / group_size * out_features + n;
            let beside = offsets.map_or(middle, |offsets| offsets[at]);
            numbers.push(match offset {
                WeightOffset::None | WeightOffset::Integer => scales[at] * (code - beside),
                WeightOffset::Minimum => scales[at] * code + beside,
            });
        }
    }
    numbers
}

/// What the product sees of one row of the input.
pub fn seen(mode: InputMode, input: &[f64]) -> Vec<f64> {
    let mut seen = input.to_vec();
    if mode == InputMode::I8Block32 {
        for (block, seen) in input.chunks(INPUT_BLOCK).zip(seen.chunks_mut(INPUT_BLOCK)) {
            let scale = row_scale(block, DType::I8, ScaleFormat::F32, 0.0);
            encode_row(block, scale, DType::I8, 127, seen);
            seen.iter_mut().for_each(|code| *code *= scale);
        }
    }
    seen
}

impl Reference for LinearWna16 {
    fn reference(problem: &LinearWna16Problem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let &LinearWna16Problem { in_features, out_features, bits, group_size, .. } = problem;
        let mut out = arguments.take("out")?;
        let input = arguments.exactly("input", out.data.len() / out_features * in_features)?;
        let codes = arguments.exactly("weight", out_features * in_features * bits / 8)?;
        let groups = in_features / group_size * out_features;
        let scales = arguments.exactly("scales", groups)?;
        let weight = weight(problem, codes, scales, arguments.optional("offsets", groups)?);
        let bias = arguments.optional("bias", out_features)?;
        for (token, out) in out.data.chunks_mut(out_features).enumerate() {
            let row = seen(problem.input_mode, &input[token * in_features..][..in_features]);
            for (n, out) in out.iter_mut().enumerate() {
                let sum = dot(&row, &weight[n * in_features..][..in_features]) + bias.map_or(0.0, |bias| bias[n]);
                *out = round(problem.output_dtype, activate(problem.activation, sum));
            }
        }
        arguments.put("out", out);
        Ok(())
    }
}
