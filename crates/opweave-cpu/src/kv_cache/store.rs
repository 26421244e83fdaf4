// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a page holds of a row: its elements, or codes of them.

use std::marker::PhantomData;

use opweave_tensor::F8E4M3;

use super::{Paged, ScatterCall};
use crate::bytes;
use crate::quantization::encode::{Bounds, Coding, Row, encode, table_of};
use crate::quantization::magnitude::Activation;
use crate::simd::{CodeTable, Elem, Simd};

/// Stores consecutive elements.
pub(super) trait Store: Copy + Sync {
    /// Elements of rows.
    type From;
    /// Elements of pages.
    type To;
    /// Whether all heads are stored alike.
    fn is_uniform(self) -> bool;

    /// Stores `n` elements of head `head` and, if heads are alike, those after it.
    ///
    /// # Safety
    /// - `from` is valid to read and `to` to write `n` elements, apart from each other; the scales are those of the call.
    /// - With `stream`, a fence follows.
    #[expect(clippy::too_many_arguments, reason = "bounds and operands of a loop, in registers")]
    unsafe fn store<S: Simd>(
        self,
        s: S,
        tensor: &Paged,
        head: usize,
        from: *const Self::From,
        to: *mut Self::To,
        n: usize,
        stream: bool,
        memo: &mut Memo,
    );
}

/// The table of the scale that was last used.
pub(super) struct Memo {
    scale: u32,
    table: Option<CodeTable>,
}

/// Elements of a head for which a table would be worth making anew.
const WORTH_A_TABLE: usize = 1024;

impl Memo {
    /// Nothing yet: no scale that has a table is zero.
    pub(super) fn new() -> Self {
        Memo { scale: 0, table: None }
    }

    /// The table, if it is there or `worth` making.
    #[inline(always)]
    fn table<S: Simd, T: Elem>(&mut self, s: S, coding: Coding, worth: bool) -> Option<&CodeTable> {
        let scale = coding.scale.to_bits();
        if scale != self.scale {
            if !worth {
                return None;
            }
            *self = Memo { scale, table: table_of::<S, T, F8E4M3>(s, coding) };
        }
        self.table.as_ref()
    }
}

/// Elements of the size of `T`, as they are.
#[derive(Clone, Copy)]
pub(super) struct Copied<T>(PhantomData<fn(T)>);

impl<T> Copied<T> {
    pub(super) fn new(_: &ScatterCall) -> Self {
        Copied(PhantomData)
    }
}

impl<T: Elem> Store for Copied<T> {
    type From = T;
    type To = T;

    #[inline(always)]
    fn is_uniform(self) -> bool {
        true
    }

    #[inline(always)]
    unsafe fn store<S: Simd>(
        self,
        s: S,
        _: &Paged,
        _: usize,
        from: *const T,
        to: *mut T,
        n: usize,
        stream: bool,
        _: &mut Memo,
    ) {
        let n = n * size_of::<T>();
        // SAFETY: the trait's clauses. What follows in the source is most often the next to be read.
        unsafe { bytes::copy(s, from.cast(), to.cast(), n, stream, from.cast::<u8>().wrapping_add(n)) }
    }
}

/// f8e4m3 of elements over the scale of their head.
#[derive(Clone, Copy)]
pub(super) struct Codes<T> {
    per_head: bool,
    dtype: PhantomData<fn(T)>,
}

impl<T> Codes<T> {
    pub(super) fn new(call: &ScatterCall) -> Self {
        Codes { per_head: call.scale_per_head, dtype: PhantomData }
    }
}

impl<T: Activation> Store for Codes<T> {
    type From = T;
    type To = F8E4M3;

    #[inline(always)]
    fn is_uniform(self) -> bool {
        !self.per_head
    }

    #[inline(always)]
    unsafe fn store<S: Simd>(
        self,
        s: S,
        tensor: &Paged,
        head: usize,
        from: *const T,
        to: *mut F8E4M3,
        n: usize,
        stream: bool,
        memo: &mut Memo,
    ) {
        // SAFETY: the trait's clauses; there is one scale, or one for each head.
        unsafe {
            let scale = tensor.scales.map_or(1.0, |scales| scales.add(if self.per_head { head } else { 0 }).read());
            // A scale that is not a positive number is never bounded, or has no reciprocal that would do.
            let coding = Coding { scale, lowest: f32::NEG_INFINITY, zero_point: None };
            let bounds = Bounds::Quotient(F8E4M3::MAX.to_f32());
            let table = memo.table::<S, T>(s, coding, !self.per_head || n >= WORTH_A_TABLE);
            let row = Row { width: n, bounds, stream, next: from.wrapping_add(n), lines: size_of::<T>() };
            encode::<S, T, F8E4M3, false>(s, from, to, coding, table, row);
        }
    }
}
