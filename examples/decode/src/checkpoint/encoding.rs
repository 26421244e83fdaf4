// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How a tensor's elements are stored, and what numbers they are.

use half::{bf16, f16};

/// How a tensor's elements are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Encoding {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// The upper half of a single.
    Bf16,
    /// GGUF: blocks of 32, an f16 scale `d` and 16 bytes; byte `j` holds elements `j` (low) and `j + 16`; `d * (q - 8)`.
    Q4_0,
    /// GGUF: blocks of 32, f16 scale `d` and minimum `m`, 16 bytes as in [`Encoding::Q4_0`]; `d * q + m`.
    Q4_1,
    /// GGUF: blocks of 32, an f16 scale `d` and 32 signed bytes; `d * q`.
    Q8_0,
}

impl Encoding {
    /// All of them.
    pub const ALL: [Encoding; 6] =
        [Encoding::F32, Encoding::F16, Encoding::Bf16, Encoding::Q4_0, Encoding::Q4_1, Encoding::Q8_0];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::F32 => "f32",
            Encoding::F16 => "f16",
            Encoding::Bf16 => "bf16",
            Encoding::Q4_0 => "q4_0",
            Encoding::Q4_1 => "q4_1",
            Encoding::Q8_0 => "q8_0",
        }
    }

    /// Elements of a block, and the bytes that they take. A row consists of whole blocks.
    pub fn block(self) -> (usize, usize) {
        match self {
            Encoding::F32 => (1, 4),
            Encoding::F16 | Encoding::Bf16 => (1, 2),
            Encoding::Q4_0 => (32, 18),
            Encoding::Q4_1 => (32, 20),
            Encoding::Q8_0 => (32, 34),
        }
    }

    /// Whether elements share scales.
    pub fn is_quantised(self) -> bool {
        self.block().0 > 1
    }

    /// Bytes of a row of `width` elements; `None` if it has no whole number of blocks or overflows.
    pub fn row_bytes(self, width: usize) -> Option<usize> {
        let (elements, bytes) = self.block();
        width.is_multiple_of(elements).then(|| (width / elements).checked_mul(bytes))?
    }

    /// Appends the numbers of whole blocks to `out`.
    pub fn decode(self, bytes: &[u8], out: &mut Vec<f32>) {
        let half = |b: &[u8]| f16::from_le_bytes([b[0], b[1]]).to_f32();
        let nibbles = |q: &[u8], number: &dyn Fn(u8) -> f32, out: &mut Vec<f32>| {
            out.extend(q.iter().map(|byte| number(byte & 15)));
            out.extend(q.iter().map(|byte| number(byte >> 4)));
        };
        for block in bytes.chunks_exact(self.block().1) {
            match self {
                Encoding::F32 => out.push(f32::from_le_bytes([block[0], block[1], block[2], block[3]])),
                Encoding::F16 => out.push(half(block)),
                Encoding::Bf16 => out.push(bf16::from_le_bytes([block[0], block[1]]).to_f32()),
                Encoding::Q4_0 => nibbles(&block[2..], &|q| half(block) * (f32::from(q) - 8.0), out),
                Encoding::Q4_1 => nibbles(&block[4..], &|q| half(block) * f32::from(q) + half(&block[2..]), out),
                Encoding::Q8_0 => out.extend(block[2..].iter().map(|&q| half(block) * f32::from(q as i8))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(encoding: Encoding, scale: f32, minimum: Option<f32>, codes: &[u8]) -> Vec<f32> {
        let mut bytes = f16::from_f32(scale).to_le_bytes().to_vec();
        bytes.extend(minimum.iter().flat_map(|m| f16::from_f32(*m).to_le_bytes()));
        bytes.extend(codes);
        let mut out = Vec::new();
        encoding.decode(&bytes, &mut out);
        out
    }

    #[test]
    fn nibbles_are_split_halves() {
        let mut codes = [0x88_u8; 16];
        codes[0] = 0x21;
        let q4_0 = decoded(Encoding::Q4_0, 1.0, None, &codes);
        assert_eq!((q4_0.len(), q4_0[0], q4_0[1], q4_0[16]), (32, -7.0, 0.0, -6.0));
        let q4_1 = decoded(Encoding::Q4_1, 0.5, Some(-3.0), &codes);
        assert_eq!((q4_1[0], q4_1[1], q4_1[16]), (-2.5, 1.0, -2.0));
    }

    #[test]
    fn bytes_are_signed() {
        let mut codes = [0_u8; 32];
        (codes[0], codes[31]) = (0x80, 0x7f);
        let q8_0 = decoded(Encoding::Q8_0, 2.0, None, &codes);
        assert_eq!((q8_0[0], q8_0[1], q8_0[31]), (-256.0, 0.0, 254.0));
    }

    #[test]
    fn rows_are_whole_blocks() {
        assert_eq!(Encoding::Q4_1.row_bytes(64), Some(40));
        assert_eq!(Encoding::Q4_1.row_bytes(48), None);
        assert_eq!(Encoding::F32.row_bytes(usize::MAX), None);
    }
}
