// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Numbers, memory and threads of these tests.

use std::cell::Cell;
use std::num::NonZero;

use half::{bf16, f16};
use opweave_cpu::Rows;
use opweave_device::cpu::{Parallel, Pool, Serial};
use opweave_tensor::DType;

pub(crate) const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

/// One thread, and several.
pub(crate) fn pools() -> Vec<Box<dyn Parallel>> {
    let pool = |n| Pool::new(NonZero::new(n).unwrap()).unwrap();
    vec![Box::new(Serial), Box::new(pool(2)), Box::new(pool(3)), Box::new(pool(8))]
}

/// Numbers of a dtype, each rounded to it, in bytes and as f32.
#[derive(Clone)]
pub(crate) struct Numbers {
    pub(crate) dtype: DType,
    /// Whole words, so that every element is aligned; cells, since kernels write some of them.
    words: Vec<Cell<u32>>,
    pub(crate) values: Vec<f32>,
}

impl Numbers {
    pub(crate) fn new(dtype: DType, numbers: impl IntoIterator<Item = f32>) -> Numbers {
        let (mut bytes, mut values) = (Vec::<u8>::new(), Vec::new());
        for number in numbers {
            match dtype {
                DType::F32 => bytes.extend(number.to_le_bytes()),
                DType::F16 => bytes.extend(f16::from_f32(number).to_le_bytes()),
                _ => bytes.extend(bf16::from_f32(number).to_le_bytes()),
            }
            values.push(match dtype {
                DType::F32 => number,
                DType::F16 => f16::from_f32(number).to_f32(),
                _ => bf16::from_f32(number).to_f32(),
            });
        }
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let words = bytes.chunks_exact(4).map(|b| Cell::new(u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        Numbers { dtype, words: words.collect(), values }
    }

    /// The bits of all elements as they are now.
    pub(crate) fn bits(&self) -> Vec<u32> {
        self.words.iter().map(Cell::get).collect()
    }

    /// Rows of `stride` elements, from element `first` on.
    pub(crate) fn rows(&self, first: usize, stride: usize) -> Rows {
        let data = self.words.as_ptr().cast_mut().cast::<u8>().wrapping_add(first * self.dtype.bits() / 8);
        Rows { data, stride: stride as isize }
    }
}

/// A reproducible number between -1 and 1.
pub(crate) fn noise(i: usize) -> f32 {
    let mut z = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z ^ z >> 27) >> 40) as f32 / (1 << 23) as f32 - 1.0
}
