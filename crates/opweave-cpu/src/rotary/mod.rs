// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rotary family: pairs of features turned in place, of heads as they stand or normalised first.
//!
//! Tokens are independent. A token's cosines and sines are brought once into the form that the loop over its heads wants:
//! widened, rounded where the mode rounds, each twice where pairs are neighbours.

mod angles;
mod exact;
mod scale;
mod turn;

use std::marker::PhantomData;
use std::ops::Range;

use half::{bf16, f16};
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use crate::indices::{Indices, inside};
use crate::memory::{CACHE_LINE, begin_pages};
use crate::normalization::{Columns, Statistic};
use crate::rows::{RowKernel, for_each_row};
use crate::simd::{Elem, Isa, Simd};
use angles::{Angles, CHUNK};
use scale::{Bare, Normed, Scale, WideWeight};

/// Heads of one tensor: queries or keys.
#[derive(Clone, Copy, Debug)]
pub struct Heads {
    /// The first feature of the first head of the first token.
    pub data: *mut u8,
    /// Heads of a token.
    pub count: usize,
    /// Elements from a token to the next.
    pub token_stride: isize,
    /// Elements from a head to the next.
    pub head_stride: isize,
    /// What is done to a head before it is turned.
    pub norm: Option<HeadNorm>,
}

/// A root-mean-square norm of each head.
#[derive(Clone, Copy, Debug)]
pub struct HeadNorm {
    /// Scale of each feature; ones when absent.
    pub weight: Option<Columns>,
    /// Added to the mean of squares.
    pub eps: f64,
    /// Whether the normalised head is rounded before it is turned.
    pub round: bool,
}

/// Rows of cosines and sines.
#[derive(Clone, Copy, Debug)]
pub struct CosSin {
    /// The first cosine of position 0.
    pub data: *const u8,
    /// f32 or that of the heads.
    pub dtype: DType,
    /// Elements from a position to the next.
    pub stride: isize,
    /// Positions that it has.
    pub positions: usize,
}

/// One call: every head of every token whose position the cache has.
#[derive(Clone, Copy, Debug)]
pub struct RotaryCall {
    /// The position of each token.
    pub positions: Indices,
    /// Queries and keys.
    pub heads: [Option<Heads>; 2],
    /// Features of a head.
    pub head_dim: usize,
    /// Features that are turned: even.
    pub rotary_dim: usize,
    /// dtype of the heads.
    pub dtype: DType,
    /// Cosines and sines.
    pub cache: CosSin,
    /// Whether a pair is two neighbours rather than one feature of each half.
    pub interleaved: bool,
    /// Whether cosines, sines and products are rounded to the dtype.
    pub rounded: bool,
}

// SAFETY: inert data; `rotate` answers for what is done through it.
unsafe impl Sync for RotaryCall {}

/// Computes `call`.
///
/// # Safety
/// - All that [`RotaryCall`] describes lies in memory that is valid to read, and to write where heads are, aligned to its
///   elements; dtypes are f32, f16 or bf16; `rotary_dim` is even and at most `head_dim`.
/// - No two heads overlap, nor any head and what is only read.
/// - Nobody else accesses them until this returns.
pub unsafe fn rotate(isa: Isa, pool: &dyn Parallel, call: &RotaryCall) {
    // SAFETY: the caller's clauses; each arm names the dtype that the call states.
    unsafe {
        match call.dtype {
            DType::F32 => with::<f32>(isa, pool, call),
            DType::F16 => with::<f16>(isa, pool, call),
            DType::BF16 => with::<bf16>(isa, pool, call),
            other => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    }
}

/// # Safety
/// - As for [`rotate`]; `T` is the call's dtype.
unsafe fn with<T: Elem>(isa: Isa, pool: &dyn Parallel, call: &RotaryCall) {
    let bytes = |heads: &Heads| {
        let features = if heads.norm.is_some() { call.head_dim } else { call.rotary_dim };
        2 * heads.count * features * size_of::<T>()
    };
    let bytes_per_token = call.heads.iter().flatten().map(bytes).sum();
    // SAFETY: the caller's clauses.
    unsafe {
        for_each_row(isa, pool, &Body::<T> { call: *call, dtype: PhantomData }, call.positions.len, bytes_per_token)
    }
}

/// Heads whose statistics are taken before any of them is turned.
const GROUP: usize = 32;

struct Body<T> {
    call: RotaryCall,
    dtype: PhantomData<fn(T)>,
}

impl<T: Elem> RowKernel for Body<T> {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, tokens: Range<usize>) {
        let call = &self.call;
        let mut angles = Angles::new(call);
        let mut weights = [WideWeight::new(), WideWeight::new()];
        for (weight, heads) in weights.iter_mut().zip(&call.heads) {
            if let Some(HeadNorm { weight: Some(columns), .. }) = heads.and_then(|heads| heads.norm) {
                // SAFETY: the clauses of `rotate`: a column for each feature.
                unsafe { weight.fill::<S, T>(s, columns, call.head_dim) };
            }
        }
        let heads: [_; 2] = std::array::from_fn(|i| call.heads[i].as_ref().map(|heads| (heads, &weights[i])));
        for token in tokens {
            // SAFETY: the trait's clause: this is a token of the call.
            let position = unsafe { call.positions.get(token) };
            if !inside(position, call.cache.positions) {
                continue;
            }
            angles.at(position as usize);
            for (heads, weight) in heads.iter().flatten() {
                // SAFETY: the clauses of `rotate`: heads of the call, which no other task touches.
                unsafe {
                    let first = heads.data.cast::<T>().offset(token as isize * heads.token_stride);
                    for group in (0..heads.count).step_by(GROUP) {
                        let group = group..heads.count.min(group + GROUP);
                        match heads.norm {
                            None => self.turn_all(s, first, heads, group, &mut angles),
                            Some(norm) => {
                                let norm = HeadNorm { weight: weight.of(&norm), ..norm };
                                self.normalise_all(s, first, heads, &norm, group, &mut angles);
                            }
                        }
                    }
                }
            }
        }
    }
}

impl<T: Elem> Body<T> {
    /// Turns some heads of a token as they stand.
    ///
    /// # Safety
    /// - `first` is the first head of a token; heads `group` of it are valid, and nobody else accesses them.
    #[inline(always)]
    unsafe fn turn_all<S: Simd>(
        &self,
        s: S,
        first: *mut T,
        heads: &Heads,
        group: Range<usize>,
        angles: &mut Angles<'_>,
    ) {
        for head in group {
            // SAFETY: the caller's clause.
            unsafe {
                let x = first.offset(head as isize * heads.head_stride);
                begin_pages(s, x.cast(), self.call.head_dim * size_of::<T>());
                self.turn(s, x, Bare, angles);
            }
        }
    }

    /// Normalises and turns some heads of a token. All their statistics come first: each is a chain of sums, a root and a
    /// quotient that is waited for, but not by that of another head.
    ///
    /// # Safety
    /// - As for [`Self::turn_all`]; the group has at most `GROUP` heads.
    #[inline(always)]
    unsafe fn normalise_all<S: Simd>(
        &self,
        s: S,
        first: *mut T,
        heads: &Heads,
        norm: &HeadNorm,
        group: Range<usize>,
        angles: &mut Angles<'_>,
    ) {
        let call = &self.call;
        let statistic = Statistic::RootMeanSquare { eps: norm.eps };
        let (mut sums, mut inverses) = ([0.0; GROUP], [0.0; GROUP]);
        // SAFETY: the caller's clauses.
        unsafe {
            for (sum, head) in sums.iter_mut().zip(group.clone()) {
                *sum = scale::sum_of_squares::<S, T>(s, first.offset(head as isize * heads.head_stride), call.head_dim);
            }
            // Without branches, so that the compiler makes vectors of them; NaN stands for a head that needs f64.
            for (inverse, &sum) in inverses.iter_mut().zip(&sums).take(group.len()) {
                *inverse = statistic.inverse(sum, call.head_dim).unwrap_or(f32::NAN);
            }
            for (inverse, head) in inverses.into_iter().zip(group) {
                let x = first.offset(head as isize * heads.head_stride);
                let next = x.wrapping_offset(heads.token_stride).cast::<u8>();
                for line in (0..call.head_dim * size_of::<T>()).step_by(CACHE_LINE) {
                    s.prefetch(next.wrapping_add(line));
                }
                if inverse.is_nan() {
                    exact::head::<T>(x, norm, call, angles.row());
                } else {
                    self.turn(s, x, Normed::<T>::new(inverse, norm), angles);
                }
            }
        }
    }

    /// # Safety
    /// - `head_dim` elements from `x` on are valid, and nobody else accesses them.
    #[inline(always)]
    unsafe fn turn<S: Simd, C: Scale>(&self, s: S, x: *mut T, scale: C, angles: &mut Angles<'_>) {
        let call = &self.call;
        let pairs = call.rotary_dim / 2;
        let mut first = 0;
        // SAFETY: the caller's clause; chunks of pairs cover the turned features, the last call those that stay.
        unsafe {
            while first < pairs {
                let count = CHUNK.min(pairs - first);
                let (cosines, sines) = angles.chunk::<S, T>(s, first, count);
                if call.interleaved {
                    turn::neighbours(s, x.add(2 * first), 2 * first, 2 * count, scale, cosines, sines, call.rounded);
                } else {
                    turn::halves(s, x, first, pairs, count, scale, cosines, sines, call.rounded);
                }
                first += count;
            }
            if C::CHANGES {
                turn::rest(s, x, call.rotary_dim, call.head_dim, scale);
            }
        }
    }
}
