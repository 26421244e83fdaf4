// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Matrices in every form.

use opweave_decode::checkpoint::Encoding;
use opweave_decode::engine::{Engine, FloatForm, Options, WeightForm};

use crate::{distance, from_gguf, from_safetensors, logits, options};

fn text() -> Vec<u32> {
    (0..33).map(|at| (at * at * 13 + 5) % 320).collect()
}

fn of(engine: &mut Engine) -> Vec<f32> {
    logits(engine, &text())
}

fn farthest(found: &[f32], wanted: &[f32]) -> f64 {
    found.chunks(320).zip(wanted.chunks(320)).map(|(a, b)| distance(a, b)).fold(0.0, f64::max)
}

/// What a form may lose against the same numbers in f32 is the rounding of sums alone.
#[test]
fn quantised_matrices_are_the_numbers_that_they_stand_for() {
    for encoding in Encoding::ALL {
        let with = |weights| Engine::new(&mut from_gguf(encoding), &Options { weights, ..options() }).unwrap();
        let stored = of(&mut with(WeightForm::Stored));
        let numbers = of(&mut with(WeightForm::Float(FloatForm::F32)));
        let most = farthest(&stored, &numbers);
        assert!(most < 2e-5, "{encoding:?}: {most}");
    }
}

#[test]
fn narrow_numbers_lose_what_their_rounding_loses() {
    let exact = of(&mut Engine::new(&mut from_safetensors(Encoding::F32), &options()).unwrap());
    for (form, encoding, allowed) in [(FloatForm::F16, Encoding::F16, 5e-3), (FloatForm::Bf16, Encoding::Bf16, 4e-2)] {
        let rounded = Options { weights: WeightForm::Float(form), ..options() };
        let here = of(&mut Engine::new(&mut from_safetensors(Encoding::F32), &rounded).unwrap());
        let most = farthest(&here, &exact);
        assert!(most < allowed && most > 1e-5, "{form:?}: {most}");
        // The file may round as well as the engine; its table of embeddings is rounded too.
        let there = of(&mut Engine::new(&mut from_safetensors(encoding), &options()).unwrap());
        assert!(farthest(&there, &exact) < 2.0 * allowed);
    }
}

#[test]
fn quantised_activations_are_a_choice_that_costs_a_little() {
    for encoding in [Encoding::Q4_0, Encoding::Q4_1, Encoding::Q8_0] {
        let with = |quantised_activations| Options { quantised_activations, ..options() };
        let exact = of(&mut Engine::new(&mut from_gguf(encoding), &with(false)).unwrap());
        let mut engine = Engine::new(&mut from_gguf(encoding), &with(true)).unwrap();
        let most = farthest(&of(&mut engine), &exact);
        assert!(most > 1e-5 && most < 1e-1, "{encoding:?}: {most}");
        let kernels = engine.kernels();
        assert!(kernels.choices.iter().any(|choice| choice.problem.contains("input_mode=i8_block32")));
    }
}

#[test]
fn every_operator_has_a_kernel_and_a_reason() {
    let engine = Engine::new(&mut from_gguf(Encoding::Q4_1), &options()).unwrap();
    let kernels = engine.kernels();
    let wanted = [
        "embedding",
        "rms_norm",
        "fused_add_rms_norm",
        "rotary_embedding",
        "reshape_paged_cache",
        "attention_prefill",
        "paged_attention_decode",
        "silu_and_mul",
        "argmax",
        "top_k_top_p_sampling",
        "linear_wna16",
    ];
    for operator in wanted {
        let choice = kernels.choices.iter().find(|choice| choice.operator == operator).unwrap();
        assert!(!choice.because.is_empty() && !choice.others.is_empty(), "{operator}");
        assert!(kernels.text().contains(&format!("runs {}: ", choice.kernel)), "{operator}");
    }
    // Qkv, output, gate and up, down: one of each, however many layers. The head has the sizes of gate and up here.
    assert_eq!(kernels.choices.iter().filter(|choice| choice.operator == "linear_wna16").count(), 4);
}
