// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Frequencies, from parameters that were checked.

use std::f64::consts::TAU;

use super::{Llama3, RotaryScaling, RotaryTable, Yarn};

/// The angle per position of each pair.
pub(super) fn frequencies(table: &RotaryTable) -> Vec<f64> {
    let d = table.rotary_dim as f64;
    let with_base =
        |base: f64| (0..table.rotary_dim / 2).map(move |pair| base.powf(-2.0 * pair as f64 / d)).collect::<Vec<f64>>();
    let plain = with_base(table.base);
    // The exponent with which the lowest frequency, `base^(-(d - 2) / d)`, is divided by what the base is multiplied by.
    let stretched = |factor: f64| with_base(table.base * factor.powf(d / (d - 2.0)));
    match table.scaling {
        RotaryScaling::Plain => plain,
        RotaryScaling::Linear { factor } => plain.into_iter().map(|f| f / factor).collect(),
        RotaryScaling::Ntk { factor } => stretched(factor),
        RotaryScaling::DynamicNtk { factor, original_max_position, sequence_length } => {
            let length = sequence_length.max(original_max_position) as f64;
            stretched(factor * length / original_max_position as f64 - (factor - 1.0))
        }
        RotaryScaling::Llama3(llama) => plain.into_iter().map(|f| llama3(&llama, f)).collect(),
        RotaryScaling::Yarn(yarn) => {
            let (low, high) = blend(&yarn, table);
            let ramp = |pair: usize| ((pair as f64 - low) / (high - low)).clamp(0.0, 1.0);
            let blended = |(pair, f): (usize, f64)| f / yarn.factor * ramp(pair) + f * (1.0 - ramp(pair));
            plain.into_iter().enumerate().map(blended).collect()
        }
    }
}

/// One frequency by the number of turns that it makes in the original context.
fn llama3(llama: &Llama3, frequency: f64) -> f64 {
    let turns = llama.original_max_position as f64 * frequency / TAU;
    let (low, high) = (llama.low_freq_factor, llama.high_freq_factor);
    if turns < low {
        frequency / llama.factor
    } else if turns > high {
        frequency
    } else {
        let kept = (turns - low) / (high - low);
        (1.0 - kept) * frequency / llama.factor + kept * frequency
    }
}

/// The pairs between which YaRN goes from kept to divided.
fn blend(yarn: &Yarn, table: &RotaryTable) -> (f64, f64) {
    let d = table.rotary_dim as f64;
    // The pair, as a real number, that makes this many turns in the original context.
    let pair = |turns: f64| d * (yarn.original_max_position as f64 / (turns * TAU)).ln() / (2.0 * table.base.ln());
    let (mut low, mut high) = (pair(yarn.beta_fast), pair(yarn.beta_slow));
    if yarn.truncate {
        (low, high) = (low.floor(), high.ceil());
    }
    (low, high) = (low.max(0.0), high.min(d - 1.0));
    // As the published code has it, so that the ramp divides by no zero.
    (low, if low == high { high + 0.001 } else { high })
}
