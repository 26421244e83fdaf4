// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Block formats of GGUF.

use half::f16;

use super::{ConvertError, PlainWeight, WeightShape, expect_length, expect_multiple};
use crate::ops::linear::WeightOffset;

/// Columns of a block.
const BLOCK: usize = 32;

/// A block format of GGUF, as `ggml-common.h` lays it out: numbers in little endian.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GgufBlock {
    /// Scale, 16 bytes of codes of 4 bits; `scale * (code - 8)`.
    Q4_0,
    /// Scale, minimum, 16 bytes of codes of 4 bits; `scale * code + minimum`.
    Q4_1,
    /// Scale, 32 signed bytes; `scale * byte`.
    Q8_0,
}

impl GgufBlock {
    /// Bytes of a block of 32 columns.
    pub const fn bytes(self) -> usize {
        match self {
            GgufBlock::Q4_0 => 18,
            GgufBlock::Q4_1 => 20,
            GgufBlock::Q8_0 => 34,
        }
    }

    /// The problem's `bits`.
    pub const fn bits(self) -> usize {
        match self {
            GgufBlock::Q4_0 | GgufBlock::Q4_1 => 4,
            GgufBlock::Q8_0 => 8,
        }
    }

    /// The problem's `offset`.
    pub const fn offset(self) -> WeightOffset {
        match self {
            GgufBlock::Q4_0 | GgufBlock::Q8_0 => WeightOffset::None,
            GgufBlock::Q4_1 => WeightOffset::Minimum,
        }
    }
}

/// A weight of GGUF, rows of blocks, as `linear_wna16` takes it with `group_size` 32 and scales of f16.
///
/// # Errors
/// [`ConvertError`] when the columns are not whole blocks, or the bytes are not those of the shape.
pub fn from_gguf(format: GgufBlock, bytes: &[u8], shape: WeightShape) -> Result<PlainWeight, ConvertError> {
    let WeightShape { in_features, out_features } = shape;
    expect_multiple("in_features", in_features, BLOCK)?;
    let blocks = in_features / BLOCK;
    expect_length("the tensor", bytes.len(), &[out_features, blocks, format.bytes()])?;
    let mut codes = Vec::with_capacity(out_features * in_features * format.bits() / 8);
    let mut scales = vec![f16::ZERO; blocks * out_features];
    let mut minima = vec![f16::ZERO; if format == GgufBlock::Q4_1 { scales.len() } else { 0 }];
    for (at, block) in bytes.chunks_exact(format.bytes()).enumerate() {
        let (row, group) = (at / blocks, at % blocks);
        let place = group * out_features + row;
        let half = |at: usize| f16::from_le_bytes([block[at], block[at + 1]]);
        scales[place] = half(0);
        match format {
            GgufBlock::Q4_0 => split_halves(&block[2..], &mut codes),
            GgufBlock::Q4_1 => {
                minima[place] = half(2);
                split_halves(&block[4..], &mut codes);
            }
            // Signed to unsigned: 128 more, which is the highest bit the other way.
            GgufBlock::Q8_0 => codes.extend(block[2..].iter().map(|code| code ^ 0x80)),
        }
    }
    Ok(PlainWeight { codes, scales, minima })
}

/// A block whose first half is in the lower halves of its bytes, to one whose even columns are.
fn split_halves(packed: &[u8], codes: &mut Vec<u8>) {
    let code = |column: usize| if column < BLOCK / 2 { packed[column] & 15 } else { packed[column - BLOCK / 2] >> 4 };
    codes.extend((0..BLOCK / 2).map(|byte| code(2 * byte) | code(2 * byte + 1) << 4));
}
