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
    let rows = (0..problem.out_features).flat_map(|n| weight_row(problem, n, codes, scales, offsets));
    rows.collect()
}

/// Row `n` of [`weight`].
fn weight_row(
    problem: &LinearWna16Problem,
    n: usize,
    codes: &[f64],
    scales: &[f64],
    offsets: Option<&[f64]>,
) -> Vec<f64> {
    let &LinearWna16Problem { in_features, out_features, bits, group_size, offset, .. } = problem;
    let bytes = &codes[n * (in_features * bits / 8)..][..in_features * bits / 8];
    let middle = 2_f64.powi(bits as i32 - 1);
    let mut row = vec![0.0; in_features];
    // Group by group, since large weights have millions of codes. A group is a whole number of bytes.
    let groups = bytes.chunks_exact(group_size * bits / 8).zip(row.chunks_exact_mut(group_size));
    for (group, (bytes, row)) in groups.enumerate() {
        let at = group * out_features + n;
        let (scale, beside) = (scales[at], offsets.map_or(middle, |offsets| offsets[at]));
        let number = |code: f64| match offset {
            WeightOffset::None | WeightOffset::Integer => scale * (code - beside),
            WeightOffset::Minimum => scale * code + beside,
        };
        match bits {
            4 => bytes.iter().zip(row.chunks_exact_mut(2)).for_each(|(&byte, pair)| {
                pair.copy_from_slice(&[number(f64::from(byte as u8 & 15)), number(f64::from(byte as u8 >> 4))]);
            }),
            _ => bytes.iter().zip(row).for_each(|(&code, place)| *place = number(code)),
        }
    }
    row
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
        let offsets = arguments.optional("offsets", groups)?;
        let bias = arguments.optional("bias", out_features)?;
        let tokens = out.data.len() / out_features;
        let row = |token: usize| seen(problem.input_mode, &input[token * in_features..][..in_features]);
        let rows: Vec<Vec<f64>> = (0..tokens).map(row).collect();
        // Row by row of the weight: all of it in f64 would be sixteen times its codes.
        for n in 0..out_features {
            let weight = weight_row(problem, n, codes, scales, offsets);
            for (token, row) in rows.iter().enumerate() {
                let sum = dot(row, &weight) + bias.map_or(0.0, |bias| bias[n]);
                out.data[token * out_features + n] = round(problem.output_dtype, activate(problem.activation, sum));
            }
        }
        arguments.put("out", out);
        Ok(())
    }
}
