// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Arguments.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use opweave_decode::engine::{FloatForm, Options, Policy, WeightForm};

/// Decodes text with a Llama model on this CPU, by opweave's operators
#[derive(Parser, Debug)]
#[command(name = "decode", version)]
pub(crate) struct Args {
    /// A GGUF file, or a folder with config.json, safetensors and tokenizer.json
    #[arg(long, value_name = "PATH")]
    pub(crate) model: PathBuf,
    /// The text to continue
    #[arg(long, value_name = "TEXT", default_value = "")]
    prompt: String,
    /// Put the prompt as a user's message between <|im_start|> and <|im_end|>, as instruction-tuned models expect
    #[arg(long)]
    chat: bool,
    /// Decode this many made-up tokens instead of a text
    #[arg(long, value_name = "N", conflicts_with_all = ["prompt", "chat"])]
    pub(crate) prompt_tokens: Option<usize>,
    /// Tokens to decode at most
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub(crate) tokens: usize,
    /// Go on after the token that ends a text
    #[arg(long)]
    pub(crate) ignore_end: bool,
    /// Threads, or 0 for as many as the machine has
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Positions of the cache, or what prompt and tokens take
    #[arg(long, value_name = "N")]
    context: Option<usize>,
    /// Tokens of one pass of the prompt
    #[arg(long, value_name = "N", default_value_t = 512)]
    chunk: usize,
    /// Form of the matrices
    #[arg(long, value_enum, default_value_t = Weights::Stored)]
    weights: Weights,
    /// Quantise activations to 8 bits in products with quantised matrices
    #[arg(long)]
    quantised_activations: bool,
    /// Divide logits by this, or 0 to take the likeliest token
    #[arg(long, value_name = "T", default_value_t = 0.0)]
    temperature: f32,
    /// Draw from this many of the likeliest tokens, or 0 for all
    #[arg(long, value_name = "K", default_value_t = 0)]
    top_k: i32,
    /// Draw from the likeliest tokens that have this share of the probability
    #[arg(long, value_name = "P", default_value_t = 1.0)]
    top_p: f32,
    /// Seed of the draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print which kernel runs each operator, and why, before decoding
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print one JSON document on standard output instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Weights {
    /// As in the file
    Stored,
    F32,
    F16,
    Bf16,
}

impl Args {
    /// What is to be continued, as one text.
    pub(crate) fn text(&self) -> String {
        if self.chat {
            format!("<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n", self.prompt)
        } else {
            self.prompt.clone()
        }
    }

    /// The engine's options for a prompt of so many tokens.
    pub(crate) fn options(&self, prompt: usize, most: usize) -> Options {
        let float = WeightForm::Float;
        Options {
            threads: self.threads,
            chunk: self.chunk.min(prompt).max(1),
            context: self.context.unwrap_or_else(|| prompt.saturating_add(self.tokens).min(most)),
            weights: match self.weights {
                Weights::Stored => WeightForm::Stored,
                Weights::F32 => float(FloatForm::F32),
                Weights::F16 => float(FloatForm::F16),
                Weights::Bf16 => float(FloatForm::Bf16),
            },
            quantised_activations: self.quantised_activations,
            ..Options::default()
        }
    }

    /// How a token is chosen.
    pub(crate) fn policy(&self) -> Policy {
        if self.temperature == 0.0 {
            return Policy::Greedy;
        }
        let Args { top_k, top_p, temperature, seed, .. } = *self;
        Policy::Drawn { top_k, top_p, temperature, seed }
    }
}
