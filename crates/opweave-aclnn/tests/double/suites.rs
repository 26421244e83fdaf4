// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Every row through the suite of its operator, eager and captured, on the double.

use opweave_numerics::{Config, Mode};

use crate::script::runtime;
use crate::shared::{double, run, say};
use crate::validation::validate;

const OPERATIONS: [&str; 12] = [
    "argmax",
    "embedding",
    "fused_add_rms_norm",
    "gelu_tanh_and_mul",
    "layer_norm",
    "linear",
    "log_softmax",
    "reshape_paged_cache",
    "rms_norm",
    "rotary_embedding",
    "silu_and_mul",
    "softmax",
];

#[test]
#[ignore = "run by the other tests, in a process that has the double"]
fn the_suites() {
    let captured = std::env::var("OPWEAVE_SCRIPT_MODE").is_ok_and(|mode| mode == "graph");
    let config = Config {
        operations: std::env::var("OPWEAVE_SCRIPT_OPERATION")
            .map_or_else(|_| OPERATIONS.map(str::to_owned).to_vec(), |one| vec![one]),
        label: std::env::var("OPWEAVE_SCRIPT_LABEL").ok(),
        mode: if captured { Mode::Graph } else { Mode::Eager },
        batch_invariance: true,
        repeat: 2,
        ..Config::default()
    };
    say(&validate(&runtime(), config));
}

fn passes(mode: &str) {
    let met = run("suites::the_suites", double(), &[("OPWEAVE_SCRIPT_MODE", mode)]);
    assert!(!met.said.contains("bad"), "{mode}: {}", met.said);
    OPERATIONS.iter().for_each(|name| assert!(met.said.contains(name), "{mode}: {name} did not run: {}", met.said));
    println!("{mode}\n{}", met.said);
    met.is_clean(mode);
}

#[test]
fn every_row_passes_its_suite_eager() {
    passes("eager");
}

#[test]
fn every_row_passes_its_suite_captured() {
    passes("graph");
}
