// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The table of cosines and sines that `rotary_embedding` reads: built once, on the host, in f64.
//!
//! It is no operator: it has no device, no launch and no choice of kernels. It stands with the contracts because its row
//! layout is theirs, and the facade passes it on to engines.

mod error;
mod frequencies;
mod parameters;
mod scaling;

pub use error::RotaryTableError;
pub use scaling::{Llama3, RotaryScaling, Yarn};

use half::{bf16, f16};
use opweave_tensor::Element;

/// What a table is built from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RotaryTable {
    /// Features that are turned: even.
    pub rotary_dim: usize,
    /// Rows of the table: positions `0..max_position`.
    pub max_position: usize,
    /// The base of the frequencies, `rope_theta` in configurations: above 1.
    pub base: f64,
    /// How frequencies are stretched for contexts longer than those of the training.
    pub scaling: RotaryScaling,
}

impl RotaryTable {
    /// A table without scaling.
    pub fn new(rotary_dim: usize, max_position: usize, base: f64) -> Self {
        RotaryTable { rotary_dim, max_position, base, scaling: RotaryScaling::Plain }
    }

    /// The angle per position of each pair, `rotary_dim / 2` of them, in radians.
    ///
    /// # Errors
    /// [`RotaryTableError`] for a parameter outside its legal set.
    pub fn frequencies(&self) -> Result<Vec<f64>, RotaryTableError> {
        self.check()?;
        Ok(frequencies::frequencies(self))
    }

    /// What cosines and sines are multiplied by: 1 but for YaRN.
    ///
    /// # Errors
    /// As [`RotaryTable::frequencies`].
    pub fn attention_factor(&self) -> Result<f64, RotaryTableError> {
        self.check()?;
        Ok(self.scaling.attention_factor())
    }

    fn check(&self) -> Result<(), RotaryTableError> {
        if self.rotary_dim == 0 || !self.rotary_dim.is_multiple_of(2) {
            return Err(RotaryTableError::RotaryDim(self.rotary_dim));
        }
        error::above("base", self.base, 1.0)?;
        self.scaling.check(self.rotary_dim)
    }
}

/// Element types of a table.
pub trait RotaryElement: Element {
    /// The nearest value, ties to even.
    fn nearest(value: f64) -> Self;
}

impl RotaryElement for f64 {
    fn nearest(value: f64) -> Self {
        value
    }
}

impl RotaryElement for f32 {
    fn nearest(value: f64) -> Self {
        value as f32
    }
}

impl RotaryElement for f16 {
    fn nearest(value: f64) -> Self {
        f16::from_f32(to_odd(value))
    }
}

impl RotaryElement for bf16 {
    fn nearest(value: f64) -> Self {
        bf16::from_f32(to_odd(value))
    }
}

/// A finite value cut to f32, with the last bit set if anything was lost: a second rounding to fewer bits then gives what one
/// rounding would have given, since no tie can arise that was none.
fn to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value {
        return nearest;
    }
    let away = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(away)) | 1)
}

/// The table, `[max_position, rotary_dim]` in row-major order: for each position the cosines of all pairs, then their sines,
/// both times the attention factor. Computed in f64 and rounded once.
///
/// # Errors
/// [`RotaryTableError`] for a parameter outside its legal set, or a table larger than memory can address.
pub fn build_cos_sin_cache<T: RotaryElement>(table: &RotaryTable) -> Result<Vec<T>, RotaryTableError> {
    let frequencies = table.frequencies()?;
    let factor = table.scaling.attention_factor();
    let RotaryTable { rotary_dim, max_position, .. } = *table;
    let elements = max_position.checked_mul(rotary_dim).filter(|n| n.checked_mul(size_of::<T>()).is_some());
    let mut out = Vec::new();
    let reserved = elements.is_some_and(|n| out.try_reserve_exact(n).is_ok());
    if !reserved {
        return Err(RotaryTableError::Size { max_position, rotary_dim });
    }
    for position in 0..max_position {
        let angles = || frequencies.iter().map(|frequency| position as f64 * frequency);
        out.extend(angles().map(|angle| T::nearest(angle.cos() * factor)));
        out.extend(angles().map(|angle| T::nearest(angle.sin() * factor)));
    }
    Ok(out)
}
