// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The scalings and their parameters.

use super::error::{RotaryTableError, above, at_least, check};

/// How frequencies are changed for contexts longer than those of the training.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum RotaryScaling {
    /// Not at all: Su and others, "RoFormer", 2021.
    Plain,
    /// Positions divided by `factor`: Chen and others, "Extending context window of large language models via positional
    /// interpolation", 2023.
    Linear {
        /// At least 1.
        factor: f64,
    },
    /// The base multiplied by `factor^(d / (d - 2))`, so that the lowest frequency is divided by `factor` and the highest
    /// stays: the "NTK-aware" interpolation that Peng and others cite, "YaRN", 2023, section 3.1.
    Ntk {
        /// At least 1.
        factor: f64,
    },
    /// As [`RotaryScaling::Ntk`] with the factor that the current length asks for, `factor * length / original - (factor - 1)`,
    /// and none up to the original length: "dynamic NTK", as in Transformers.
    DynamicNtk {
        /// At least 1.
        factor: f64,
        /// Positions of the training.
        original_max_position: usize,
        /// The length that the table is for. A table for another length is another table.
        sequence_length: usize,
    },
    /// Low frequencies divided by a factor, high ones kept, those between blended: Llama 3.1's published code.
    Llama3(Llama3),
    /// Frequencies blended by the number of turns that they make in the original context, and a factor on cosines and sines:
    /// Peng and others, "YaRN", 2023.
    Yarn(Yarn),
}

/// Parameters of Llama 3.1's scaling.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Llama3 {
    /// At least 1.
    pub factor: f64,
    /// Fewer turns than this in the original context: divided by the factor.
    pub low_freq_factor: f64,
    /// More turns than this: kept. Above `low_freq_factor`.
    pub high_freq_factor: f64,
    /// Positions of the training.
    pub original_max_position: usize,
}

/// Parameters of YaRN.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Yarn {
    /// At least 1.
    pub factor: f64,
    /// Positions of the training.
    pub original_max_position: usize,
    /// Turns from which on a frequency is kept: 32 in the paper.
    pub beta_fast: f64,
    /// Turns up to which a frequency is divided by the factor: 1 in the paper.
    pub beta_slow: f64,
    /// The factor on cosines and sines, where it is given: it wins over all rules.
    pub attention_factor: Option<f64>,
    /// With `mscale_all_dim`: the factor is the quotient of their magnitudes (DeepSeek).
    pub mscale: Option<f64>,
    /// See `mscale`.
    pub mscale_all_dim: Option<f64>,
    /// Whether the ends of the blend are whole pairs, outwards: true in the paper's code, false for gpt-oss.
    pub truncate: bool,
}

impl Yarn {
    /// The paper's parameters for a factor and an original length.
    pub fn new(factor: f64, original_max_position: usize) -> Self {
        Yarn {
            factor,
            original_max_position,
            beta_fast: 32.0,
            beta_slow: 1.0,
            attention_factor: None,
            mscale: None,
            mscale_all_dim: None,
            truncate: true,
        }
    }

    /// The paper's `0.1 ln(factor) + 1`, its first term times `scale`; 1 where nothing is stretched.
    fn magnitude(&self, scale: f64) -> f64 {
        if self.factor <= 1.0 { 1.0 } else { 0.1 * scale * self.factor.ln() + 1.0 }
    }
}

impl RotaryScaling {
    /// The name in configurations.
    pub const fn name(&self) -> &'static str {
        match self {
            RotaryScaling::Plain => "plain",
            RotaryScaling::Linear { .. } => "linear",
            RotaryScaling::Ntk { .. } => "ntk",
            RotaryScaling::DynamicNtk { .. } => "dynamic",
            RotaryScaling::Llama3(_) => "llama3",
            RotaryScaling::Yarn(_) => "yarn",
        }
    }

    pub(super) fn attention_factor(&self) -> f64 {
        match self {
            RotaryScaling::Yarn(yarn) => match (yarn.attention_factor, yarn.mscale, yarn.mscale_all_dim) {
                (Some(factor), _, _) => factor,
                (None, Some(mscale), Some(all)) => yarn.magnitude(mscale) / yarn.magnitude(all),
                _ => yarn.magnitude(1.0),
            },
            _ => 1.0,
        }
    }

    pub(super) fn check(&self, rotary_dim: usize) -> Result<(), RotaryTableError> {
        let original = |n: usize| at_least("original_max_position_embeddings", n as f64, 1.0);
        let exponent = || {
            let legal = || "at least 4: the exponent is d / (d - 2)".to_owned();
            check("rotary_dim", rotary_dim as f64, rotary_dim >= 4, legal)
        };
        match *self {
            RotaryScaling::Plain => Ok(()),
            RotaryScaling::Linear { factor } => at_least("factor", factor, 1.0),
            RotaryScaling::Ntk { factor } => at_least("factor", factor, 1.0).and_then(|()| exponent()),
            RotaryScaling::DynamicNtk { factor, original_max_position, .. } => {
                at_least("factor", factor, 1.0)?;
                original(original_max_position)?;
                exponent()
            }
            RotaryScaling::Llama3(llama) => {
                at_least("factor", llama.factor, 1.0)?;
                original(llama.original_max_position)?;
                above("low_freq_factor", llama.low_freq_factor, 0.0)?;
                above("high_freq_factor", llama.high_freq_factor, llama.low_freq_factor)
            }
            RotaryScaling::Yarn(yarn) => {
                at_least("factor", yarn.factor, 1.0)?;
                original(yarn.original_max_position)?;
                above("beta_slow", yarn.beta_slow, 0.0)?;
                above("beta_fast", yarn.beta_fast, yarn.beta_slow)?;
                if let Some(factor) = yarn.attention_factor {
                    return above("attention_factor", factor, 0.0);
                }
                match (yarn.mscale, yarn.mscale_all_dim) {
                    (None, None) => Ok(()),
                    (Some(a), Some(b)) if a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite() => Ok(()),
                    (mscale, mscale_all_dim) => Err(RotaryTableError::Mscale { mscale, mscale_all_dim }),
                }
            }
        }
    }
}
