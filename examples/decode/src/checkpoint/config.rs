// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a Llama model is made of, apart from its weights.

use super::Defect;

/// How far a number of a configuration can reasonably go; what is above is a broken file.
const LARGEST: usize = 1 << 24;

/// How rotary frequencies are stretched for contexts longer than those of the training.
#[derive(Clone, PartialEq, Debug)]
pub enum Stretch {
    /// Not at all.
    None,
    /// All by one factor.
    Linear(f64),
    /// Llama 3: long waves by the factor, short ones not, and a passage between.
    Llama3 {
        /// The factor of long waves.
        factor: f64,
        /// Waves longer than the trained context divided by this are long.
        low: f64,
        /// Waves shorter than the trained context divided by this are short.
        high: f64,
        /// The trained context.
        original: usize,
    },
    /// Each pair by a factor of its own, as GGUF files store them.
    Factors(Vec<f32>),
}

/// A Llama model's configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Tokens.
    pub vocab_size: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width inside the MLP.
    pub intermediate_size: usize,
    /// Layers.
    pub num_layers: usize,
    /// Query heads.
    pub num_heads: usize,
    /// Key and value heads.
    pub num_kv_heads: usize,
    /// Features of a head.
    pub head_dim: usize,
    /// What is added to the mean square in norms.
    pub rms_norm_eps: f32,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    /// What becomes of them.
    pub rope_stretch: Stretch,
    /// The longest context of the training.
    pub max_positions: usize,
    /// Whether the output matrix is the embedding table.
    pub tied: bool,
}

impl Config {
    /// Width of all query heads together.
    pub fn query_size(&self) -> usize {
        self.num_heads * self.head_dim
    }

    /// Width of all key heads together, and of all value heads.
    pub fn kv_size(&self) -> usize {
        self.num_kv_heads * self.head_dim
    }

    /// Checks every number, so that later products of a few of them cannot overflow.
    pub(crate) fn checked(self) -> Result<Self, Defect> {
        let sizes = [
            ("the vocabulary", self.vocab_size),
            ("the hidden size", self.hidden_size),
            ("the intermediate size", self.intermediate_size),
            ("the number of layers", self.num_layers),
            ("the number of heads", self.num_heads),
            ("the number of key-value heads", self.num_kv_heads),
            ("the head dimension", self.head_dim),
            ("the longest context", self.max_positions),
        ];
        for (what, size) in sizes {
            if size == 0 || size > LARGEST {
                return Err(Defect::unknown(what, size, format!("1 to {LARGEST}")));
            }
        }
        if !self.num_heads.is_multiple_of(self.num_kv_heads) {
            let legal = format!("a divisor of the {} heads", self.num_heads);
            return Err(Defect::unknown("the number of key-value heads", self.num_kv_heads, legal));
        }
        if !self.head_dim.is_multiple_of(2) {
            return Err(Defect::unknown("the head dimension", self.head_dim, "an even number"));
        }
        if !(self.rms_norm_eps >= 0.0 && self.rms_norm_eps.is_finite()) {
            return Err(Defect::unknown("the epsilon of norms", self.rms_norm_eps, "a finite number of at least 0"));
        }
        if !(self.rope_theta > 1.0 && self.rope_theta.is_finite()) {
            return Err(Defect::unknown("the rotary base", self.rope_theta, "a finite number above 1"));
        }
        self.rope_stretch.check(self.head_dim)?;
        Ok(self)
    }
}

impl Stretch {
    fn check(&self, head_dim: usize) -> Result<(), Defect> {
        let positive = |what: &str, v: f64| {
            let legal = v > 0.0 && v.is_finite();
            if legal { Ok(()) } else { Err(Defect::unknown(what, v, "a finite number above 0")) }
        };
        match self {
            Stretch::None => Ok(()),
            Stretch::Linear(factor) => positive("the rotary factor", *factor),
            Stretch::Llama3 { factor, low, high, original } => {
                positive("the rotary factor", *factor)?;
                positive("low_freq_factor", *low)?;
                positive("high_freq_factor", *high)?;
                if high <= low {
                    return Err(Defect::unknown("high_freq_factor", high, format!("more than {low}")));
                }
                positive("original_max_position_embeddings", *original as f64)
            }
            Stretch::Factors(factors) => {
                if factors.len() != head_dim / 2 {
                    let legal = (head_dim / 2).to_string();
                    return Err(Defect::unknown("the number of rotary factors", factors.len(), legal));
                }
                factors.iter().try_for_each(|factor| positive("a rotary factor", (*factor).into()))
            }
        }
    }
}
