// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rotary position embedding.

opweave_contract::rotary_operators!(modules);

use opweave_contract::ops::rotary::RotaryStyle;

/// The features of pair `pair` of `pairs`.
fn pair(style: RotaryStyle, pair: usize, pairs: usize) -> (usize, usize) {
    match style {
        RotaryStyle::Neox => (pair, pairs + pair),
        RotaryStyle::Interleaved => (2 * pair, 2 * pair + 1),
    }
}

/// The row of a position, if the cache has one.
fn row(cache: &[f64], rotary_dim: usize, position: f64) -> Option<&[f64]> {
    let rows = cache.len() / rotary_dim;
    let exists = (0.0..rows as f64).contains(&position);
    exists.then(|| &cache[position as usize * rotary_dim..(position as usize + 1) * rotary_dim])
}
