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
use crate::normalization::{Columns, Statistic};
use crate::rows::{RowKernel, for_each_row};
use crate::simd::{Elem, Isa, Simd};
use angles::{Angles, CHUNK};
use scale::{Bare, Normed, Scale};

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

struct Body<T> {
    call: RotaryCall,
    dtype: PhantomData<fn(T)>,
}

impl<T: Elem> RowKernel for Body<T> {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, tokens: Range<usize>) {
        let call = &self.call;
        let mut angles = Angles::new(call);
        for token in tokens {
            // SAFETY: the trait's clause: this is a token of the call.
            let position = unsafe { call.positions.get(token) };
            if !inside(position, call.cache.positions) {
                continue;
            }
            angles.at(position as usize);
            for heads in call.heads.iter().flatten() {
                for head in 0..heads.count {
                    let offset = token as isize * heads.token_stride + head as isize * heads.head_stride;
                    // SAFETY: the clauses of `rotate`: a head of the call, which no other task touches.
                    unsafe { self.head(s, heads.data.cast::<T>().offset(offset), heads, &mut angles) };
                }
            }
        }
    }
}

impl<T: Elem> Body<T> {
    /// Normalises, where that is asked for, and turns one head.
    ///
    /// # Safety
    /// - `head_dim` elements from `x` on are valid, and nobody else accesses them.
    #[inline(always)]
    unsafe fn head<S: Simd>(&self, s: S, x: *mut T, heads: &Heads, angles: &mut Angles<'_>) {
        let call = &self.call;
        // SAFETY: the caller's clause.
        unsafe {
            let Some(norm) = heads.norm else { return self.turn(s, x, Bare, angles) };
            let statistic = Statistic::RootMeanSquare { eps: norm.eps };
            let sum = scale::sum_of_squares::<S, T>(s, x, call.head_dim);
            match statistic.inverse(sum, call.head_dim) {
                Some(inverse) => self.turn(s, x, Normed::<T>::new(inverse, &norm), angles),
                None => exact::head::<T>(x, &norm, call, angles.row()),
            }
        }
    }

    /// # Safety
    /// - As for [`Self::head`].
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
