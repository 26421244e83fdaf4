// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How an engine is made.

use super::EngineError;
use super::error::limit;
use crate::checkpoint::{Config, Encoding};

/// In which form the matrices are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WeightForm {
    /// As the file stores them.
    #[default]
    Stored,
    /// As these numbers: [`Encoding::F32`], [`Encoding::F16`] or [`Encoding::Bf16`].
    Float(FloatForm),
}

/// Numbers of a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatForm {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// The upper half of a single.
    Bf16,
}

impl FloatForm {
    pub(super) fn dtype(self) -> opweave::DType {
        match self {
            FloatForm::F32 => opweave::DType::F32,
            FloatForm::F16 => opweave::DType::F16,
            FloatForm::Bf16 => opweave::DType::BF16,
        }
    }

    pub(super) fn of(encoding: Encoding) -> Option<Self> {
        match encoding {
            Encoding::F32 => Some(FloatForm::F32),
            Encoding::F16 => Some(FloatForm::F16),
            Encoding::Bf16 => Some(FloatForm::Bf16),
            _ => None,
        }
    }
}

/// How an engine is made. Everything that is allocated follows from these.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Threads, the calling one included; 0 for as many as the machine has.
    pub threads: usize,
    /// Sequences that are decoded at once.
    pub sequences: usize,
    /// Tokens that one pass takes at most; longer prompts take several.
    pub chunk: usize,
    /// Positions of each sequence; at most what the model was trained for.
    pub context: usize,
    /// Tokens of a page of the cache.
    pub page_size: usize,
    /// The form of the matrices.
    pub weights: WeightForm,
    /// Whether products with quantised weights see activations as 8-bit codes of blocks of 32.
    pub quantised_activations: bool,
    /// Whether logits of every position can be asked for, and not of the last alone.
    pub all_logits: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            threads: 0,
            sequences: 1,
            chunk: 512,
            context: 2048,
            page_size: 16,
            weights: WeightForm::Stored,
            quantised_activations: false,
            all_logits: false,
        }
    }
}

impl Options {
    /// Pages of a sequence.
    pub(super) fn pages(&self) -> usize {
        self.context.div_ceil(self.page_size)
    }

    pub(super) fn check(&self, config: &Config) -> Result<(), EngineError> {
        let most = config.max_positions;
        for (what, found, most) in [
            ("the number of sequences", self.sequences, 1 << 12),
            ("the chunk of tokens", self.chunk, 1 << 16),
            ("the context", self.context, most),
            ("the page size", self.page_size, 1 << 12),
            ("the number of threads", self.threads.max(1), 1 << 12),
        ] {
            if found == 0 || found > most {
                return Err(limit(what, found, format!("1 to {most}")));
            }
        }
        Ok(())
    }
}
