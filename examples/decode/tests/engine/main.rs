// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The engine against the oracle, and against itself.

#![expect(clippy::unwrap_used, reason = "tests and their helpers: what cannot be set up is a failed test")]

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod support;

mod batches;
mod forms;
mod oracle;
mod refusals;
mod sampling;

use std::io::Cursor;

use opweave_decode::checkpoint::{Checkpoint, Encoding};
use opweave_decode::engine::{Engine, Options, Policy, Wanted, Work};

/// The tiny model from safetensors.
fn from_safetensors(encoding: Encoding) -> Checkpoint {
    let file = Box::new(Cursor::new(support::files::safetensors(encoding)));
    Checkpoint::from_safetensors(&support::config_json(), file).unwrap()
}

/// The tiny model from GGUF.
fn from_gguf(encoding: Encoding) -> Checkpoint {
    Checkpoint::from_gguf(Box::new(Cursor::new(support::files::gguf(encoding, true).bytes()))).unwrap()
}

/// Options for tests: two threads, and logits of every position.
fn options() -> Options {
    Options { threads: 2, chunk: 64, context: 128, all_logits: true, ..Options::default() }
}

/// Logits of every position of a text.
fn logits(engine: &mut Engine, tokens: &[u32]) -> Vec<f32> {
    engine.clear(0).unwrap();
    engine.forward(&[Work { sequence: 0, tokens }], Wanted::All).unwrap().to_vec()
}

/// What follows a text, by the likeliest tokens, and the logits that each was chosen from.
fn greedy(engine: &mut Engine, tokens: &[u32], count: usize) -> (Vec<u32>, Vec<Vec<f32>>) {
    engine.clear(0).unwrap();
    let (mut text, mut rows) = (Vec::new(), Vec::new());
    let mut next = tokens.to_vec();
    while text.len() < count {
        rows.push(engine.forward(&[Work { sequence: 0, tokens: &next }], Wanted::Last).unwrap().to_vec());
        next = engine.sample(1, Policy::Greedy, 0).unwrap().to_vec();
        text.extend(&next);
    }
    (text, rows)
}

/// The distance of two rows, by the length of the second.
fn distance(found: &[f32], wanted: &[f32]) -> f64 {
    let square = |v: f64| v * v;
    let apart: f64 = found.iter().zip(wanted).map(|(a, b)| square(f64::from(*a) - f64::from(*b))).sum();
    let length: f64 = wanted.iter().map(|v| square(f64::from(*v))).sum();
    assert_eq!(found.len(), wanted.len());
    (apart / length).sqrt()
}
