// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Weights of codes.

use std::marker::PhantomData;
use std::ops::Range;

use opweave_contract::ops::linear::{InputMode, WeightOffset};
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use super::body::{Piece, Product, RUN, Scratch, ask, multiply};
use super::tile::Run;
use super::{Layer, PANEL, UNIT, Weight, by_float, codes, dequantize, dot, tile};
use crate::memory::load_some;
use crate::rows::{Rows, element_offset};
use crate::simd::{Elem, Isa, Simd};

/// How far ahead of its use a weight is fetched that is read once.
pub(super) const AHEAD: usize = 4096;

/// What turns codes of a weight into numbers.
#[derive(Clone, Copy, Debug)]
pub struct Scales {
    /// Columns of the input that share a scale: a multiple of 32.
    pub group_size: usize,
    /// The dtype of scales and minima: f32, f16 or bf16.
    pub dtype: DType,
    /// A row of scales for each group.
    pub scales: Rows,
    /// What the offsets are.
    pub offset: WeightOffset,
    /// A row of offsets for each group, where there are any.
    pub offsets: Rows,
}

/// A linear layer with a weight of codes.
#[derive(Clone, Copy, Debug)]
pub struct QuantizedCall {
    /// Sizes, input, bias, result. Columns of the input are whole groups.
    pub layer: Layer,
    /// The codes: [`pack_codes`](super::pack_codes) made the packed ones.
    pub weight: Weight,
    /// Bits of a code: 4 or 8.
    pub bits: usize,
    /// Their scales.
    pub scales: Scales,
    /// What the product sees of the input.
    pub input_mode: InputMode,
}

/// Computes `call`.
///
/// # Safety
/// - Every row of the input, of the result, of the weight or its packed bytes, of scales and offsets, and the bias lie in memory
///   that is valid for what is done to it, aligned to their elements, of the stated dtypes and sizes.
/// - The result overlaps nothing else, and nobody else touches it until this returns, or writes the rest.
pub unsafe fn quantized_linear(isa: Isa, pool: &dyn Parallel, call: &QuantizedCall) {
    by_float!(call.scales.dtype, |T| {
        let call = *call;
        // SAFETY: the caller's clauses; `T` is the dtype of the scales, and each arm names the bits and the mode.
        unsafe {
            match (call.bits, call.input_mode) {
                (4, InputMode::AsIs) => multiply(isa, pool, &Numbers::<T, 4> { call, dtype: PhantomData }),
                (4, InputMode::I8Block32) => multiply(isa, pool, &Codes::<T, 4> { call, dtype: PhantomData }),
                (_, InputMode::AsIs) => multiply(isa, pool, &Numbers::<T, 8> { call, dtype: PhantomData }),
                (_, InputMode::I8Block32) => multiply(isa, pool, &Codes::<T, 8> { call, dtype: PhantomData }),
            }
        }
    });
}

/// Scale and offset of two vectors of rows of the weight: of offsets the code of zero, or the minimum.
pub(super) type Beside<V> = [[V; 2]; 2];

impl QuantizedCall {
    /// Scales and offsets for the rows of a pair of vectors of a panel and the group of a column.
    ///
    /// # Safety
    /// - As for [`quantized_linear`]; `T` is the dtype of the scales, the panel is one of the layer's.
    #[inline(always)]
    pub(super) unsafe fn beside<S: Simd, T: Elem>(
        &self,
        s: S,
        (panel, pair): (usize, usize),
        column: usize,
    ) -> Beside<S::F32> {
        let group = column / self.scales.group_size;
        let at = pair * 2 * S::LANES;
        let left = self.layer.columns(panel).saturating_sub(at);
        let first = panel * PANEL + at;
        // SAFETY: the caller's clauses: these rows of the weight have a scale and an offset in the group; past the last there is none.
        unsafe {
            let scales = two::<S, T>(s, self.scales.scales.row::<T>(group).cast_const(), first, left);
            let offsets = match self.scales.offset {
                WeightOffset::None => [s.splat((1_u32 << (self.bits - 1)) as f32); 2],
                WeightOffset::Integer => zeros(s, self.scales.offsets.row::<u8>(group).add(first), left),
                WeightOffset::Minimum => two::<S, T>(s, self.scales.offsets.row::<T>(group).cast_const(), first, left),
            };
            [scales, offsets]
        }
    }

    /// Asks for the scales and offsets of a panel, if it is there, in the group of a column: a panel's are one line of memory in each of many
    /// rows, which no processor guesses.
    #[inline(always)]
    pub(super) fn ask_beside<S: Simd, T: Elem>(&self, s: S, panel: usize, column: usize) {
        if !column.is_multiple_of(self.scales.group_size) {
            return;
        }
        let (group, first) = (column / self.scales.group_size, panel * PANEL);
        let at = |rows: Rows, size: usize| {
            let offset = element_offset(group, rows.stride).wrapping_add(first as isize);
            s.prefetch(rows.data.wrapping_offset(offset.wrapping_mul(size as isize)));
        };
        at(self.scales.scales, size_of::<T>());
        match self.scales.offset {
            WeightOffset::None => {}
            WeightOffset::Integer => at(self.scales.offsets, 1),
            WeightOffset::Minimum => at(self.scales.offsets, size_of::<T>()),
        }
    }

    /// Packed codes of a panel from a column on.
    ///
    /// # Safety
    /// - As for [`quantized_linear`]; `columns` are whole blocks, of no more than [`RUN`] words.
    #[inline(always)]
    unsafe fn words(&self, panel: usize, columns: Range<usize>, scratch: *mut u32) -> *const u32 {
        // SAFETY: the caller's clauses.
        unsafe {
            match self.weight {
                Weight::Packed(packed) => {
                    packed.cast::<u32>().add(codes::words(self.bits, panel * self.layer.in_features + columns.start))
                }
                Weight::Plain(rows) => {
                    codes::gather(self.bits, rows, (panel * PANEL, self.layer.columns(panel)), columns, scratch);
                    scratch
                }
            }
        }
    }

    fn panel_bytes(&self) -> usize {
        PANEL * self.layer.in_features * self.bits / 8
    }

    /// Asks for what is read first of a panel.
    #[inline(always)]
    fn ask_first<S: Simd, T: Elem>(&self, s: S, panel: usize) {
        if let Weight::Packed(packed) = self.weight {
            ask(s, packed.wrapping_add(panel * self.panel_bytes()), AHEAD.min(self.panel_bytes()));
            for column in (0..self.layer.in_features).step_by(self.scales.group_size) {
                self.ask_beside::<S, T>(s, panel, column);
            }
        }
    }

    /// Columns that are multiplied at once: a plain weight's codes are packed on the way, into so much memory.
    fn step(&self, columns: usize) -> usize {
        match self.weight {
            Weight::Packed(_) => columns.max(UNIT),
            Weight::Plain(_) => RUN * 32 / self.bits / PANEL,
        }
    }
}

/// Two vectors of elements of which there may be fewer.
///
/// # Safety
/// - `from` is valid for reading the first `left` of twice `S::LANES` elements from `first` on.
#[inline(always)]
unsafe fn two<S: Simd, T: Elem>(s: S, from: *const T, first: usize, left: usize) -> [S::F32; 2] {
    // SAFETY: the caller's clause.
    unsafe {
        if left >= 2 * S::LANES {
            [T::load(s, from.add(first)), T::load(s, from.add(first + S::LANES))]
        } else if left > S::LANES {
            [T::load(s, from.add(first)), load_some(s, from.add(first + S::LANES), left - S::LANES)]
        } else if left > 0 {
            [load_some(s, from.add(first), left), s.splat(0.0)]
        } else {
            [s.splat(0.0); 2]
        }
    }
}

/// Two vectors of bytes of which there may be fewer, as numbers.
///
/// # Safety
/// - `from` is valid for reading the first `left` of twice `S::LANES` bytes.
#[inline(always)]
unsafe fn zeros<S: Simd>(s: S, from: *const u8, left: usize) -> [S::F32; 2] {
    let mut numbers = [0.0_f32; PANEL];
    for (at, number) in numbers.iter_mut().enumerate().take(left.min(2 * S::LANES)) {
        // SAFETY: the caller's clause.
        *number = f32::from(unsafe { *from.add(at) });
    }
    // SAFETY: the buffer holds two vectors.
    unsafe { [s.load_f32(numbers.as_ptr()), s.load_f32(numbers.as_ptr().add(S::LANES))] }
}

/// Codes times the input's values.
struct Numbers<T, const BITS: usize> {
    call: QuantizedCall,
    dtype: PhantomData<fn(T)>,
}

impl<T: Elem, const BITS: usize> Product for Numbers<T, BITS> {
    const QUANTIZE: bool = false;

    fn layer(&self) -> &Layer {
        &self.call.layer
    }

    fn panel_bytes(&self) -> usize {
        self.call.panel_bytes()
    }

    #[inline(always)]
    fn ask_first<S: Simd>(&self, s: S, panel: usize) {
        self.call.ask_first::<S, T>(s, panel);
    }

    #[inline(always)]
    unsafe fn multiply<S: Simd>(
        &self,
        s: S,
        panels: Range<usize>,
        piece: &Piece,
        scratch: &mut Scratch,
        sums: *mut f32,
    ) {
        let tokens = piece.tokens.len();
        for (line, panel) in panels.enumerate() {
            for start in piece.columns.clone().step_by(UNIT) {
                let columns = start..(start + UNIT).min(piece.columns.end);
                let len = columns.len();
                // SAFETY: the caller's clauses: columns of this panel, rows of this run, lines of their sums; a run fits the scratch, as
                // f32 and as words.
                unsafe {
                    let sums = sums.add(line * tokens * PANEL);
                    let words = self.call.words(panel, columns.clone(), scratch.codes.as_mut_ptr().cast());
                    let x = scratch.input.as_ptr().cast::<f32>().add((start - piece.columns.start) * tokens);
                    match tokens {
                        1 => dequantize::times::<S, T, BITS, 1>(s, &self.call, panel, columns, words, x, sums),
                        2 => dequantize::times::<S, T, BITS, 2>(s, &self.call, panel, columns, words, x, sums),
                        _ => {
                            let run = scratch.run.as_mut_ptr().cast::<f32>();
                            dequantize::run::<S, T, BITS>(s, &self.call, panel, columns, words, run);
                            let run = Run { lines: run.cast_const(), len, pitch: 0, ahead: 0, soon: false };
                            tile::run::<S, f32, 1>(s, (x, tokens), run, sums);
                        }
                    }
                }
            }
        }
    }
}

/// Codes times codes.
struct Codes<T, const BITS: usize> {
    call: QuantizedCall,
    dtype: PhantomData<fn(T)>,
}

impl<T: Elem, const BITS: usize> Product for Codes<T, BITS> {
    const QUANTIZE: bool = true;

    fn layer(&self) -> &Layer {
        &self.call.layer
    }

    fn panel_bytes(&self) -> usize {
        self.call.panel_bytes()
    }

    #[inline(always)]
    fn ask_first<S: Simd>(&self, s: S, panel: usize) {
        self.call.ask_first::<S, T>(s, panel);
    }

    #[inline(always)]
    unsafe fn multiply<S: Simd>(
        &self,
        s: S,
        panels: Range<usize>,
        piece: &Piece,
        scratch: &mut Scratch,
        sums: *mut f32,
    ) {
        let tokens = piece.tokens.len();
        let step = self.call.step(piece.columns.len());
        for (line, panel) in panels.enumerate() {
            for start in piece.columns.clone().step_by(step) {
                let columns = start..(start + step).min(piece.columns.end);
                // SAFETY: the caller's clauses: columns of this panel, blocks of these rows, lines of their sums.
                unsafe {
                    let sums = sums.add(line * tokens * PANEL);
                    let words = self.call.words(panel, columns.clone(), scratch.codes.as_mut_ptr().cast());
                    let codes = dot::Input::of(scratch, piece, start - piece.columns.start);
                    dot::run::<S, T, BITS>(s, &self.call, panel, columns, words, (codes, tokens), sums);
                }
            }
        }
    }
}
