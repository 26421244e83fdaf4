// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The table of cosines and sines.

use opweave::ops::{Llama3, RotaryScaling, RotaryTable, build_cos_sin_cache};

use super::EngineError;
use crate::checkpoint::{Config, Stretch};

/// The table for `context` positions, `[context, head_dim]`: cosines, then sines.
pub(super) fn table(config: &Config, context: usize) -> Result<Vec<f32>, EngineError> {
    let plain = RotaryTable::new(config.head_dim, context, config.rope_theta);
    let scaling = match &config.rope_stretch {
        Stretch::None => RotaryScaling::Plain,
        Stretch::Linear(factor) => RotaryScaling::Linear { factor: *factor },
        Stretch::Llama3 { factor, low, high, original } => RotaryScaling::Llama3(Llama3 {
            factor: *factor,
            low_freq_factor: *low,
            high_freq_factor: *high,
            original_max_position: *original,
        }),
        Stretch::Factors(factors) => return stretched(&plain, factors),
    };
    Ok(build_cos_sin_cache(&RotaryTable { scaling, ..plain })?)
}

/// Each pair's frequency divided by a factor of its own.
fn stretched(plain: &RotaryTable, factors: &[f32]) -> Result<Vec<f32>, EngineError> {
    let frequencies = plain.frequencies()?;
    let mut out = Vec::with_capacity(plain.max_position * plain.rotary_dim);
    for position in 0..plain.max_position {
        let angles = || frequencies.iter().zip(factors).map(|(f, factor)| position as f64 * f / f64::from(*factor));
        out.extend(angles().map(|angle| angle.cos() as f32));
        out.extend(angles().map(|angle| angle.sin() as f32));
    }
    Ok(out)
}
