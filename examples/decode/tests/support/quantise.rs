// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Numbers to the encodings of files: plainly, as the formats' definitions say.

use half::{bf16, f16};
use opweave_decode::checkpoint::Encoding;

/// The bytes of whole rows.
pub(crate) fn encode(encoding: Encoding, values: &[f32]) -> Vec<u8> {
    match encoding {
        Encoding::F32 => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Encoding::F16 => values.iter().flat_map(|v| f16::from_f32(*v).to_le_bytes()).collect(),
        Encoding::Bf16 => values.iter().flat_map(|v| bf16::from_f32(*v).to_le_bytes()).collect(),
        Encoding::Q4_0 => values.chunks(32).flat_map(|block| q4(block, None)).collect(),
        Encoding::Q4_1 => {
            let least = |block: &[f32]| block.iter().copied().fold(f32::INFINITY, f32::min);
            values.chunks(32).flat_map(|block| q4(block, Some(least(block)))).collect()
        }
        Encoding::Q8_0 => values.chunks(32).flat_map(q8).collect(),
    }
}

fn q4(block: &[f32], minimum: Option<f32>) -> Vec<u8> {
    let most = block.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let largest = block.iter().fold(0.0_f32, |a, v| a.max(v.abs()));
    let scale = f16::from_f32(minimum.map_or(largest / 7.0, |least| (most - least) / 15.0));
    let mut out = scale.to_le_bytes().to_vec();
    let offset = match minimum {
        Some(least) => {
            out.extend(f16::from_f32(least).to_le_bytes());
            f16::from_f32(least).to_f32()
        }
        None => -8.0 * scale.to_f32(),
    };
    let code = |v: f32| ((v - offset) / scale.to_f32()).round().clamp(0.0, 15.0) as u8;
    out.extend((0..16).map(|j| code(block[j]) | code(block[j + 16]) << 4));
    out
}

fn q8(block: &[f32]) -> Vec<u8> {
    let largest = block.iter().fold(0.0_f32, |a, v| a.max(v.abs()));
    let scale = f16::from_f32(largest / 127.0);
    let code = |v: &f32| (v / scale.to_f32()).round().clamp(-127.0, 127.0) as i8 as u8;
    scale.to_le_bytes().into_iter().chain(block.iter().map(code)).collect()
}
