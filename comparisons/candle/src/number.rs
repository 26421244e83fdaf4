// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The dtypes of the races.

use candle_core::CpuStorage;
use half::bf16;
use opweave::opweave_tensor::Element;

pub(crate) trait Number: candle_core::WithDType + Default + Element {
    fn number(value: f32) -> Self;
    fn float(self) -> f32;
    fn slice(storage: &CpuStorage) -> Option<&[Self]>;
}

impl Number for f32 {
    fn number(value: f32) -> Self {
        value
    }
    fn float(self) -> f32 {
        self
    }
    fn slice(storage: &CpuStorage) -> Option<&[Self]> {
        if let CpuStorage::F32(values) = storage { Some(values) } else { None }
    }
}

impl Number for bf16 {
    fn number(value: f32) -> Self {
        bf16::from_f32(value)
    }
    fn float(self) -> f32 {
        self.to_f32()
    }
    fn slice(storage: &CpuStorage) -> Option<&[Self]> {
        if let CpuStorage::BF16(values) = storage { Some(values) } else { None }
    }
}

/// Numbers without a pattern between -2 and 2.
pub(crate) fn noise<T: Number>(seed: u32, count: usize) -> Vec<T> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        T::number((state >> 8) as f32 / (1 << 22) as f32 - 2.0)
    };
    (0..count).map(|_| next()).collect()
}
