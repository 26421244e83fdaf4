// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

#![no_main]

use libfuzzer_sys::fuzz_target;

/// Tokens of the model that the vocabulary is for: a table of so many rows is what justifies memory for them.
const VOCAB_SIZE: usize = 1 << 10;

// A tokenizer.json, a zero byte, and a text.
fuzz_target!(|data: &[u8]| {
    let cut = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let text = String::from_utf8_lossy(data.get(cut + 1..).unwrap_or_default());
    if let Some(tokenizer) = opweave_decode::tokenizer_of(&data[..cut], VOCAB_SIZE) {
        opweave_decode::there_and_back(&tokenizer, &text);
    }
});
