// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A real model, where `OPWEAVE_MODEL_DIR` names its folder: what `cargo xtask model` makes, and what the oracle says of it.

#![expect(clippy::unwrap_used, reason = "tests and their helpers: what cannot be set up is a failed test")]

use std::path::{Path, PathBuf};

use opweave_decode::checkpoint::Checkpoint;
use opweave_decode::engine::{Engine, FloatForm, Options, Policy, Wanted, WeightForm, Work};
use serde_json::{Value, json};

/// The folder, if there is one that the oracle has judged.
fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("OPWEAVE_MODEL_DIR").map(PathBuf::from);
    let judged = folder.filter(|folder| folder.join("oracle.json").exists());
    if judged.is_none() {
        println!("not run: OPWEAVE_MODEL_DIR names no model that the oracle has judged");
    }
    judged
}

fn read(folder: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap()
}

fn tokens(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect()
}

#[test]
fn tokens_are_those_of_the_reference() {
    let Some(folder) = folder() else { return };
    let golden = read(&folder, "tokens.json");
    for path in [folder.join("model.gguf"), folder.clone()] {
        let checkpoint = Checkpoint::open(&path).unwrap();
        let tokenizer = checkpoint.tokenizer().unwrap();
        for (text, wanted) in golden["texts"].as_array().unwrap().iter().zip(golden["tokens"].as_array().unwrap()) {
            let found = tokenizer.encode(text.as_str().unwrap(), true).unwrap();
            assert_eq!(json!(found), *wanted, "{text} by {}", path.display());
        }
    }
}

/// The largest distance of a position's logits, by the length of the oracle's.
fn farthest(engine: &mut Engine, oracle: &Value) -> f64 {
    let (stride, vocab_size) = (oracle["stride"].as_u64().unwrap() as usize, engine.config().vocab_size);
    let mut most = 0.0_f64;
    for case in oracle["cases"].as_array().unwrap() {
        engine.clear(0).unwrap();
        let tokens = tokens(&case["tokens"]);
        let found = engine.forward(&[Work { sequence: 0, tokens: &tokens }], Wanted::All).unwrap();
        for (row, wanted) in found.chunks(vocab_size).zip(case["logits"].as_array().unwrap()) {
            let wanted = wanted.as_array().unwrap().iter().map(|v| v.as_f64().unwrap());
            let (mut apart, mut length) = (0.0, 0.0);
            for (a, b) in row.iter().step_by(stride).zip(wanted) {
                apart += (f64::from(*a) - b).powi(2);
                length += b * b;
            }
            most = most.max((apart / length).sqrt());
        }
    }
    most
}

fn greedy(engine: &mut Engine, tokens: &[u32], count: usize) -> Vec<u32> {
    engine.clear(0).unwrap();
    let (mut text, mut next) = (Vec::new(), tokens.to_vec());
    while text.len() < count {
        engine.forward(&[Work { sequence: 0, tokens: &next }], Wanted::Last).unwrap();
        next = engine.sample(1, Policy::Greedy, 0).unwrap().to_vec();
        text.extend(&next);
    }
    text
}

#[test]
fn logits_and_greedy_tokens_are_those_of_the_oracle() {
    let Some(folder) = folder() else { return };
    let oracle = read(&folder, "oracle.json");
    let float = WeightForm::Float;
    let gguf = folder.join("model.gguf");
    // The oracle has the GGUF file's numbers in f32; the safetensors hold them as f16.
    for (path, weights, quantised_activations, allowed, exact) in [
        (&gguf, WeightForm::Stored, false, 1e-3, true),
        (&gguf, float(FloatForm::F32), false, 1e-3, true),
        (&folder, WeightForm::Stored, false, 1e-2, false),
        (&gguf, float(FloatForm::Bf16), false, 1e-1, false),
        (&gguf, WeightForm::Stored, true, 2.5e-1, false),
    ] {
        let options = Options {
            context: 512,
            chunk: 128,
            all_logits: true,
            weights,
            quantised_activations,
            ..Options::default()
        };
        let mut engine = Engine::new(&mut Checkpoint::open(path).unwrap(), &options).unwrap();
        let most = farthest(&mut engine, &oracle);
        println!("{} {weights:?} quantised activations {quantised_activations}: {most:.2e}", path.display());
        assert!(most < allowed, "{weights:?} {most}");
        for case in oracle["cases"].as_array().unwrap().iter().filter(|_| exact) {
            let wanted = tokens(&case["greedy"]);
            assert_eq!(greedy(&mut engine, &tokens(&case["tokens"]), wanted.len()), wanted, "{}", case["name"]);
        }
    }
}
