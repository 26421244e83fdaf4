// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The normalization family.
//!
//! Every kernel reads a row twice: once for its statistic, once, now from the cache, to scale it. Where results go past the caches, the
//! first is done in the loop that scales the row before; see `overlap`. The statistic is accumulated in f32 in several vectors and in f64 over blocks of columns, in an order that depends on the row's width and
//! on nothing else. Rows whose statistic f32 cannot hold (squares that overflow or vanish, a zero row without epsilon, infinities, NaN) are done
//! again in f64, element by element; see `exact`.

mod affine;
mod exact;
mod finish;
mod gate;
mod layer;
mod moments;
mod overlap;
mod quantized;
mod rms;
mod room;
mod segment;
mod source;

pub use gate::{Activation, GatePlace, GatedCall, rms_norm_gated};
pub use layer::{LayerCall, layer_norm};
pub use quantized::{RmsQuantCall, rms_norm_dynamic_quant};
pub use rms::{RmsCall, Statistic, rms_norm};

use opweave_tensor::DType;

/// A vector of parameters, one per column: weight or bias.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// The first element.
    pub data: *const u8,
    /// The dtype of the activation, or f32.
    pub dtype: DType,
}

// SAFETY: inert data; reading through it is an unsafe operation whose caller answers for races.
unsafe impl Send for Columns {}
// SAFETY: as for Send.
unsafe impl Sync for Columns {}

/// The smallest argument of the square root for which the f32 sum of squares is trusted: above it, squares that
/// vanished (below 2^-149 each) change nothing, and the reciprocal root stays in the normal range.
const TRUSTED_FROM: f64 = 1.0 / (1_u128 << 98) as f64;

/// Columns whose statistic is accumulated in f32 before f64 takes it up: few enough that one large element does not swallow
/// the others' low bits, enough that adding up the lanes costs nothing. A multiple of four vectors.
const SUM_BLOCK: usize = 512;
