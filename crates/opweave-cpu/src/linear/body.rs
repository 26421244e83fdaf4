// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The walk over a layer: blocks of rows, groups of panels, chunks of columns.

use std::mem::MaybeUninit;
use std::ops::Range;

use opweave_device::cpu::Parallel;

use super::finish::finish;
use super::{Layer, PANEL, TOKENS, UNIT, by_float, input};
use crate::memory::CACHE_LINE;
use crate::rows::{RowKernel, even_tasks_for, in_tasks};
use crate::simd::{Isa, Simd, SimdOp};

/// Bytes of the input that are at hand at once, as the product wants them: enough for a run of [`UNIT`] columns of f32 of
/// [`TOKENS`] rows, and half of a second-level cache with the rest.
pub(super) const INPUT_BYTES: usize = TOKENS * UNIT * 4;
/// Sums that are at hand at once.
const SUMS: usize = TOKENS * PANEL * 8;
/// Numbers of a run of a panel.
pub(super) const RUN: usize = UNIT * PANEL;
/// Blocks of the input that codes have scales of.
pub(super) const INPUT_BLOCKS: usize = INPUT_BYTES / 32;

/// A vector's worth of bytes, aligned as the widest wants it.
#[repr(C, align(64))]
pub(super) struct Scratch {
    /// The input: f32, or codes.
    pub(super) input: [MaybeUninit<u8>; INPUT_BYTES],
    /// Of codes: scales of blocks.
    pub(super) scales: [MaybeUninit<f32>; INPUT_BLOCKS],
    /// Of codes: their sums.
    pub(super) totals: [MaybeUninit<f32>; INPUT_BLOCKS],
    /// A run of a panel as f32, or in the dtype of the weight.
    pub(super) run: [MaybeUninit<f32>; RUN],
    /// Codes of a plain weight, packed.
    pub(super) codes: [MaybeUninit<u32>; RUN],
    sums: [MaybeUninit<f32>; SUMS],
}

/// Rows and columns of the input that are at hand.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Rows.
    pub(super) tokens: Range<usize>,
    /// Columns: from a multiple of [`UNIT`] on.
    pub(super) columns: Range<usize>,
}

/// How a kind of weight multiplies.
pub(super) trait Product: Sync {
    /// Whether it takes the input as codes of blocks rather than as f32.
    const QUANTIZE: bool;

    /// The layer.
    fn layer(&self) -> &Layer;

    /// Bytes of the weight that a panel has.
    fn panel_bytes(&self) -> usize;

    /// Asks for what is read first of a panel, where that pays.
    #[inline(always)]
    fn ask_first<S: Simd>(&self, _: S, _panel: usize) {}

    /// Adds the products of a piece at hand and some panels to `sums`: for each panel a line of [`PANEL`] for each row.
    /// Implementations are `#[inline(always)]`.
    ///
    /// # Safety
    /// - The piece is at hand as [`Product::QUANTIZE`] says; the panels are the layer's, whose weight is valid for reading.
    /// - `sums` is valid for that many lines, apart from everything else.
    unsafe fn multiply<S: Simd>(
        &self,
        s: S,
        panels: Range<usize>,
        piece: &Piece,
        scratch: &mut Scratch,
        sums: *mut f32,
    );
}

/// Asks for memory.
#[inline(always)]
pub(super) fn ask<S: Simd>(s: S, from: *const u8, bytes: usize) {
    for line in (0..bytes).step_by(CACHE_LINE) {
        s.prefetch(from.wrapping_add(line));
    }
}

/// The end of a group: made where [`finish`]'s clauses hold.
struct Finish<'a> {
    layer: &'a Layer,
    tokens: Range<usize>,
    panels: Range<usize>,
    sums: *const f32,
}

impl SimdOp for Finish<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        // SAFETY: whoever made this has the clauses: these elements of the result are its task's alone.
        unsafe { finish(s, self.layer, self.tokens, self.panels, self.sums) }
    }
}

/// The input of a piece: made where the clauses of [`input::widen`] and [`input::quantize`] hold.
pub(super) struct Read<'a> {
    pub(super) layer: &'a Layer,
    pub(super) piece: &'a Piece,
    pub(super) scratch: &'a mut Scratch,
    /// To codes of blocks rather than to f32.
    pub(super) quantize: bool,
}

impl SimdOp for Read<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        let Read { layer, piece, scratch, quantize } = self;
        // SAFETY: whoever made this has the clauses; each arm names the dtype of the input.
        by_float!(layer.dtype, |X| unsafe {
            if quantize {
                input::quantize::<S, X>(s, layer.input, piece, scratch);
            } else {
                input::widen::<S, X>(s, layer.input, piece, scratch);
            }
        });
    }
}

struct Body<'a, P> {
    product: &'a P,
    /// Rows of a block.
    block: usize,
}

impl<P: Product> RowKernel for Body<'_, P> {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>) {
        let layer = self.product.layer();
        let panels = layer.panels();
        let mut scratch = MaybeUninit::<Scratch>::uninit();
        // SAFETY: every field is an array of uninitialised numbers, which any memory is.
        let scratch = unsafe { scratch.assume_init_mut() };
        let mut at = rows.start;
        while at < rows.end {
            let first = at / panels * self.block;
            let tokens = first..(first + self.block).min(layer.tokens);
            let most = SUMS / (PANEL * tokens.len());
            let start = at % panels;
            let group = start..(start + (rows.end - at).min(most)).min(panels);
            at += group.len();
            // SAFETY: the trait's clauses: these are rows and panels of the layer, in no other task; the group fits.
            unsafe { self.group(s, tokens, group, scratch) };
        }
    }
}

impl<P: Product> Body<'_, P> {
    /// Computes all of a group of panels for a block of rows.
    ///
    /// # Safety
    /// - As for [`RowKernel::rows`]; a line of sums for each panel and row fits the scratch.
    #[inline(always)]
    unsafe fn group<S: Simd>(&self, s: S, tokens: Range<usize>, panels: Range<usize>, scratch: &mut Scratch) {
        let (product, layer) = (self.product, self.product.layer());
        let sums = scratch.sums.as_mut_ptr().cast::<f32>();
        // SAFETY: as many sums as there are lines of panels and rows, which fit by the caller's clause.
        unsafe { sums.write_bytes(0, tokens.len() * PANEL * panels.len()) };
        // While the input is read, memory gets under way.
        product.ask_first(s, panels.start);
        let chunk = INPUT_BYTES / if P::QUANTIZE { 1 } else { 4 } / tokens.len() / UNIT * UNIT;
        for start in (0..layer.in_features).step_by(chunk) {
            let piece = Piece { tokens: tokens.clone(), columns: start..(start + chunk).min(layer.in_features) };
            s.run(Read { layer, piece: &piece, scratch, quantize: P::QUANTIZE });
            // SAFETY: the caller's clauses; a chunk of this many columns fits, and every panel has lines of its own.
            unsafe { product.multiply(s, panels.clone(), &piece, scratch, sums) };
        }
        // A function of its own, so that there is one of it and not one for each kind of weight.
        s.run(Finish { layer, tokens, panels, sums });
    }
}

/// Products that are worth as much of a thread's time as a byte of memory traffic, about.
const PRODUCTS_A_BYTE: usize = 4;

/// Computes a layer.
///
/// # Safety
/// - Everything that the product's layer and weight name is valid for what is done to it, and until this returns nobody else
///   writes what is read, or reads or writes the result.
pub(super) unsafe fn multiply<P: Product>(isa: Isa, pool: &dyn Parallel, product: &P) {
    let layer = product.layer();
    if layer.tokens == 0 {
        return;
    }
    let blocks = layer.tokens.div_ceil(TOKENS);
    // Whole tiles, and blocks that differ little: the last one may be smaller by some tiles.
    let block = layer.tokens.div_ceil(blocks).next_multiple_of(12).min(TOKENS);
    let blocks = layer.tokens.div_ceil(block);
    let tokens = block.min(layer.tokens);
    let work = tokens.saturating_mul(layer.in_features).saturating_mul(PANEL) / PRODUCTS_A_BYTE / 4;
    let body = Body { product, block };
    let rows = blocks * layer.panels();
    let tasks = even_tasks_for(rows, product.panel_bytes().max(work), pool.threads());
    // SAFETY: the caller's clauses; a row of the walk is a panel of a block.
    unsafe { in_tasks(isa, pool, &body, rows, tasks) }
}
