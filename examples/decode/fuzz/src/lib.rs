// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The loaders of the example engine, by themselves, and what a fuzz target does with them.
//!
//! ```text
//! cargo run --manifest-path examples/decode/fuzz/Cargo.toml --example seeds
//! RUSTC_BOOTSTRAP=1 cargo fuzz run --fuzz-dir examples/decode/fuzz --sanitizer none gguf -- \
//!     -max_len=4096 -malloc_limit_mb=16 -max_total_time=600
//! ```
//!
//! A target fails where the loaders panic, hang, or ask for more memory at once than a file of a few kilobytes justifies. What was
//! found is kept as a test in `tests/loaders`.

#[path = "../../src/checkpoint/mod.rs"]
pub mod checkpoint;
#[path = "../../src/tokenizer/mod.rs"]
pub mod tokenizer;

use checkpoint::{Checkpoint, Weight};
use tokenizer::{TextStream, Tokenizer};

/// A configuration that the seeds have in common: the smallest that exercises everything.
pub const CONFIG: &str = include_str!("../seed.json");

/// Reads whatever a checkpoint offers.
pub fn read_all(mut checkpoint: Checkpoint) {
    for weight in Weight::all(&checkpoint.config().clone()) {
        if let Ok(tensor) = checkpoint.read(weight) {
            let numbers: usize = tensor.shape.iter().product();
            assert_eq!(tensor.to_f32().len(), numbers);
        }
    }
    if let Some(tokenizer) = checkpoint.tokenizer() {
        there_and_back(tokenizer, "The <|end|> 12 é🦀\r\n  it's");
    }
}

/// Encodes a text and decodes it: the text comes back where every byte has a token of its own.
pub fn there_and_back(tokenizer: &Tokenizer, text: &str) {
    for special in [false, true] {
        let Ok(tokens) = tokenizer.encode(text, special) else { continue };
        let (mut stream, mut out) = (TextStream::default(), String::new());
        for token in tokens {
            let bytes = tokenizer.bytes(token).expect("tokens of the encoder are the vocabulary's");
            stream.push(bytes, &mut out);
        }
        stream.finish(&mut out);
    }
}

/// Reads a `tokenizer.json` for a model of so many tokens.
pub fn tokenizer_of(json: &[u8], vocab_size: usize) -> Option<Tokenizer> {
    tokenizer::from_json(json, vocab_size, &[1], &[2]).ok()
}
