// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Logits and tokens against those that `oracle/tiny.py` computed in NumPy.

use opweave_decode::checkpoint::{Checkpoint, Encoding};
use opweave_decode::engine::Engine;
use serde_json::Value;

use crate::support::files::gguf;
use crate::support::oracle;
use crate::{distance, from_gguf, from_safetensors, greedy, logits, options};

/// What the issue allows in f32.
const ALLOWED: f64 = 1e-3;

fn list<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
    value.as_array().unwrap().iter().map(|v| read(v).unwrap()).collect()
}

fn tokens(value: &Value) -> Vec<u32> {
    list(value, |v| u32::try_from(v.as_u64()?).ok())
}

/// The largest distance of a position's logits from the oracle's, over all prompts.
fn farthest(engine: &mut Engine) -> f64 {
    let oracle = oracle();
    let stride = oracle["stride"].as_u64().unwrap() as usize;
    let mut most = 0.0_f64;
    for case in oracle["cases"].as_array().unwrap() {
        let found = logits(engine, &tokens(&case["tokens"]));
        let rows = found.chunks(engine.config().vocab_size);
        let norms = list(&case["norms"], Value::as_f64);
        assert_eq!(rows.len(), norms.len());
        for ((row, wanted), norm) in rows.zip(case["logits"].as_array().unwrap()).zip(norms) {
            let wanted: Vec<f32> = list(wanted, |v| v.as_f64().map(|v| v as f32));
            let sampled: Vec<f32> = row.iter().step_by(stride).copied().collect();
            let length = row.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
            most = most.max(distance(&sampled, &wanted)).max((length / norm - 1.0).abs());
        }
    }
    most
}

#[test]
fn logits_of_every_position_are_those_of_the_oracle() {
    for mut checkpoint in [from_safetensors(Encoding::F32), from_gguf(Encoding::F32)] {
        let mut engine = Engine::new(&mut checkpoint, &options()).unwrap();
        let most = farthest(&mut engine);
        assert!(most < ALLOWED, "{most}");
        // Far below what is allowed: f32 loses some 2^-20 on the way.
        assert!(most < 2e-5, "{most}");
    }
}

#[test]
fn sixty_four_greedy_tokens_are_those_of_the_oracle() {
    let mut engine = Engine::new(&mut from_gguf(Encoding::F32), &options()).unwrap();
    for case in oracle()["cases"].as_array().unwrap() {
        let wanted = tokens(&case["greedy"]);
        assert_eq!(wanted.len(), 64);
        assert_eq!(greedy(&mut engine, &tokens(&case["tokens"]), 64).0, wanted, "{}", case["name"]);
    }
}

#[test]
fn a_gguf_file_is_its_safetensors_bit_for_bit() {
    let text: Vec<u32> = (0..40).map(|at| at * 7 % 320).collect();
    let of = |mut checkpoint| logits(&mut Engine::new(&mut checkpoint, &options()).unwrap(), &text);
    assert!(of(from_gguf(Encoding::F32)) == of(from_safetensors(Encoding::F32)));
}

#[test]
fn rows_that_are_not_in_the_order_of_pairs_are_another_model() {
    let file = gguf(Encoding::F32, false).bytes();
    let mut checkpoint = Checkpoint::from_gguf(Box::new(std::io::Cursor::new(file))).unwrap();
    let most = farthest(&mut Engine::new(&mut checkpoint, &options()).unwrap());
    assert!(most > 0.05, "the loader's order would not be missed: {most}");
}
