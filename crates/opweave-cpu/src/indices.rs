// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Indices in a call's data: ids, positions, slots. They are compared at their full width: cut to fewer bits, an index far
//! outside its table would be another one inside.

use opweave_tensor::{DType, RawTensor};

/// A contiguous vector of indices.
#[derive(Clone, Copy, Debug)]
pub struct Indices {
    /// The first.
    pub data: *const u8,
    /// i32, i64 or u32.
    pub dtype: DType,
    /// How many.
    pub len: usize,
}

// SAFETY: inert data; reading through it is an unsafe operation whose caller answers for races.
unsafe impl Send for Indices {}
// SAFETY: as for Send.
unsafe impl Sync for Indices {}

impl Indices {
    /// The indices of a `[len]` view.
    pub fn of(tensor: &RawTensor) -> Self {
        Indices { data: tensor.data(), dtype: tensor.dtype(), len: tensor.dim(0) }
    }

    /// The index at `at`.
    ///
    /// # Safety
    /// - `at < len`, and the indices are valid to read.
    #[inline(always)]
    pub unsafe fn get(self, at: usize) -> i64 {
        // SAFETY: the caller's clauses.
        unsafe {
            match self.dtype {
                DType::I64 => self.data.cast::<i64>().add(at).read(),
                DType::U32 => i64::from(self.data.cast::<u32>().add(at).read()),
                _ => i64::from(self.data.cast::<i32>().add(at).read()),
            }
        }
    }

    /// The first place whose index is neither in `0..limit` nor `skip`.
    ///
    /// # Safety
    /// - The indices are valid to read.
    pub unsafe fn first_outside(self, limit: usize, skip: Option<i64>) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        // SAFETY: the caller's clause: `len` indices of the dtype, aligned to it as the contract says.
        unsafe {
            match self.dtype {
                DType::I64 => first(std::slice::from_raw_parts(self.data.cast::<i64>(), self.len), limit, skip),
                DType::U32 => first(std::slice::from_raw_parts(self.data.cast::<u32>(), self.len), limit, skip),
                _ => first(std::slice::from_raw_parts(self.data.cast::<i32>(), self.len), limit, skip),
            }
        }
    }
}

/// Whether `index` is in `0..limit`; negative ones are far above any limit.
#[inline(always)]
pub(crate) const fn inside(index: i64, limit: usize) -> bool {
    (index as u64) < limit as u64
}

fn first<T: Copy + Into<i64>>(indices: &[T], limit: usize, skip: Option<i64>) -> Option<usize> {
    // Blocks are looked at without a branch for each index, so that the compiler makes vectors of them.
    const BLOCK: usize = 256;
    let outside = |index: T| {
        let index: i64 = index.into();
        !inside(index, limit) & (Some(index) != skip)
    };
    let mut blocks = indices.chunks(BLOCK).enumerate();
    let (block, found) = blocks.find(|(_, block)| block.iter().fold(false, |any, &i| any | outside(i)))?;
    Some(block * BLOCK + found.iter().position(|&i| outside(i))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices<T>(values: &[T], dtype: DType) -> Indices {
        Indices { data: values.as_ptr().cast(), dtype, len: values.len() }
    }

    #[test]
    fn the_first_index_outside_is_found_at_full_width() {
        for at in [0, 1, 255, 256, 257, 999] {
            for wrong in [-2, 8, i64::MAX, i64::MIN, 1 << 32, (1 << 32) + 3, -(1 << 32)] {
                let mut values = vec![7_i64; 1000];
                values[at] = wrong;
                values[999] = if at == 999 { wrong } else { 8 };
                // SAFETY: a vector of this many i64.
                assert_eq!(unsafe { indices(&values, DType::I64).first_outside(8, Some(-1)) }, Some(at), "{wrong}");
            }
        }
        // SAFETY: vectors of this many elements.
        unsafe {
            assert_eq!(indices(&[0_i32, 7, -1], DType::I32).first_outside(8, Some(-1)), None);
            assert_eq!(indices(&[0_i32, 7, -1], DType::I32).first_outside(8, None), Some(2));
            assert_eq!(indices(&[0_u32, u32::MAX], DType::U32).first_outside(8, Some(-1)), Some(1));
            assert_eq!(indices(&[0_u32, u32::MAX], DType::U32).first_outside(1 << 32, None), None);
            assert_eq!(indices::<i32>(&[], DType::I32).first_outside(0, None), None);
            assert_eq!(indices(&[0_i32], DType::I32).first_outside(0, None), Some(0));
        }
    }
}
