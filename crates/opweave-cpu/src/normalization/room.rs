// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Room for parameters in f32, on the stack of a task.
//!
//! Widening f16 costs a unit of the processor that the elements of the row need as well. Many rows under the same parameters share it.

use std::mem::MaybeUninit;
use std::ops::Range;

use opweave_tensor::DType;

use crate::simd::Elem;

/// The widths of most models, in a sixteenth of the second cache for weight and bias.
const COLUMNS: usize = 8192;

/// Rows from which on it pays.
const ROWS: usize = 8;

/// Two parameters of a row.
#[repr(align(64))]
pub(super) struct Room(MaybeUninit<[[f32; COLUMNS]; 2]>);

impl Room {
    #[inline(always)]
    pub(super) fn new() -> Room {
        Room(MaybeUninit::uninit())
    }

    /// Whether parameters of T for these rows of `width` columns fit and are worth widening once for all.
    #[inline(always)]
    pub(super) fn is_worth<T: Elem>(rows: &Range<usize>, width: usize) -> bool {
        matches!(T::DTYPE, DType::F16) && rows.len() >= ROWS && width <= COLUMNS
    }

    #[inline(always)]
    pub(super) fn first(&self) -> *const f32 {
        self.0.as_ptr().cast()
    }

    #[inline(always)]
    pub(super) fn first_mut(&mut self) -> *mut f32 {
        self.0.as_mut_ptr().cast()
    }

    #[inline(always)]
    pub(super) fn second(&self) -> *const f32 {
        self.first().wrapping_add(COLUMNS)
    }

    #[inline(always)]
    pub(super) fn second_mut(&mut self) -> *mut f32 {
        self.first_mut().wrapping_add(COLUMNS)
    }
}
