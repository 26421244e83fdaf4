// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Drawn tokens.

use opweave_decode::checkpoint::Encoding;
use opweave_decode::engine::{Engine, Policy, Wanted, Work};

use crate::{from_gguf, greedy, options};

fn drawn(engine: &mut Engine, policy: Policy) -> Vec<u32> {
    engine.clear(0).unwrap();
    let (mut text, mut next) = (Vec::new(), vec![72, 105]);
    for count in 0..24 {
        engine.forward(&[Work { sequence: 0, tokens: &next }], Wanted::Last).unwrap();
        next = engine.sample(1, policy, count).unwrap().to_vec();
        text.extend(&next);
    }
    text
}

#[test]
fn a_seed_is_a_text() {
    let mut engine = Engine::new(&mut from_gguf(Encoding::F32), &options()).unwrap();
    let with = |top_k, temperature, seed| Policy::Drawn { top_k, top_p: 0.95, temperature, seed };
    let one = drawn(&mut engine, with(0, 1.0, 1));
    assert_eq!(drawn(&mut engine, with(0, 1.0, 1)), one);
    assert_ne!(drawn(&mut engine, with(0, 1.0, 2)), one);
    let likeliest = greedy(&mut engine, &[72, 105], 24).0;
    assert_eq!(drawn(&mut engine, with(1, 1.0, 1)), likeliest);
    assert_eq!(drawn(&mut engine, with(0, 1e-4, 1)), likeliest);
    assert_ne!(one, likeliest);
}
