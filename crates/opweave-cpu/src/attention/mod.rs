// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Attention: queries against the keys and values of their sequences, as an online softmax over blocks of keys (Milakov and
//! Gimelshein, 2018; Dao and others, "FlashAttention", 2022).
//!
//! - [`decode`]: one row for each sequence, by dot products, all query heads of a head of keys together.
//! - [`prefill`]: many rows for each sequence, by register blocks over rows and keys.
//! - [`merge`]: two states into one.
//!
//! What a row's bits depend on: its sequence, its place in it, and the problem. Neither threads nor the other sequences nor
//! workspace have a part in them: sums are cut at multiples of a constant, and put together in order.

mod block;
mod decode;
mod keys;
mod merge;
mod prefill;
mod rows;
mod scoring;
mod state;

use half::{bf16, f16};
use opweave_tensor::DType;

pub use decode::{decode, scratch_bytes};
pub use keys::{Keys, Plane, Table, range};
pub use merge::{MergeCall, Side, merge};
pub use prefill::prefill;
pub use scoring::{Heads, Scoring};

use crate::indices::Indices;

/// Rows of heads.
#[derive(Clone, Copy, Debug)]
pub struct Activations {
    /// The first feature of the first head of row 0.
    pub data: *mut u8,
    /// Elements from a row to the next.
    pub token: isize,
    /// Elements from a head to the next.
    pub head: isize,
}

impl Activations {
    /// A head of a row.
    ///
    /// # Safety
    /// - The row and the head exist.
    #[inline(always)]
    unsafe fn at<T>(&self, token: usize, head: usize) -> *mut T {
        let offset = (token as isize).wrapping_mul(self.token).wrapping_add(head as isize * self.head);
        // SAFETY: the caller's clause.
        unsafe { self.data.cast::<T>().offset(offset) }
    }
}

/// Logarithms of denominators.
#[derive(Clone, Copy, Debug)]
pub struct Logarithms {
    /// That of the first head of row 0.
    pub data: *mut f32,
    /// Elements from a row to the next.
    pub token: isize,
}

impl Logarithms {
    /// A head of a row.
    ///
    /// # Safety
    /// - The row and the head exist.
    #[inline(always)]
    unsafe fn at(&self, token: usize, head: usize) -> *mut f32 {
        // SAFETY: the caller's clause.
        unsafe { self.data.offset((token as isize).wrapping_mul(self.token) + head as isize) }
    }
}

/// A logit of each head.
#[derive(Clone, Copy, Debug)]
pub struct Sinks {
    /// That of the first head.
    pub data: *const u8,
    /// f32, f16 or bf16.
    pub dtype: DType,
}

impl Sinks {
    /// That of a head.
    ///
    /// # Safety
    /// - The head exists, and its sink is valid to read.
    #[inline(always)]
    unsafe fn get(&self, head: usize) -> f32 {
        // SAFETY: the caller's clause.
        unsafe {
            match self.dtype {
                DType::F16 => self.data.cast::<f16>().add(head).read().to_f32(),
                DType::BF16 => self.data.cast::<bf16>().add(head).read().to_f32(),
                _ => self.data.cast::<f32>().add(head).read(),
            }
        }
    }
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Queries.
    pub q: Activations,
    /// Keys and values.
    pub keys: Keys,
    /// Results.
    pub out: Activations,
    /// Logarithms, if they are wanted.
    pub lse: Option<Logarithms>,
    /// Sinks, if there are any.
    pub sinks: Option<Sinks>,
    /// Heads and their features.
    pub heads: Heads,
    /// The rules.
    pub scoring: Scoring,
    /// dtype of queries and results.
    pub dtype: DType,
    /// Whether keys and values are codes of f8e4m3 rather than of that dtype.
    pub codes: bool,
}

// SAFETY: inert data; the functions that run a call answer for what is done through it.
unsafe impl Send for Call {}
// SAFETY: as for Send.
unsafe impl Sync for Call {}

/// Rows of queries of each sequence.
#[derive(Clone, Copy, Debug)]
pub struct Ranges {
    /// Where each sequence begins, and where the last one ends.
    pub starts: Indices,
    /// Rows in all.
    pub tokens: usize,
}
