// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the engine refuses, and that nothing is changed by it.

use opweave_decode::checkpoint::Encoding;
use opweave_decode::engine::{Engine, EngineError, Options, Policy, Wanted, Work};

use crate::{from_gguf, logits, options};

#[test]
fn work_that_is_not_legal_changes_nothing() {
    let small = Options { context: 20, sequences: 2, chunk: 16, ..options() };
    let mut engine = Engine::new(&mut from_gguf(Encoding::F32), &small).unwrap();
    let before = logits(&mut engine, &[5, 6, 7]);
    engine.clear(0).unwrap();
    engine.forward(&[Work { sequence: 0, tokens: &[5, 6] }], Wanted::Last).unwrap();
    let (long, longer) = ([1_u32; 17], [1_u32; 16]);
    let table: [(&[Work<'_>], &str); 7] = [
        (&[], "the number of tokens in a pass is 0, expected 1 to 16"),
        (&[Work { sequence: 0, tokens: &[] }], "the number of tokens in a pass is 0"),
        (&[Work { sequence: 0, tokens: &long }], "the number of tokens in a pass is 17, expected 1 to 16"),
        (&[Work { sequence: 2, tokens: &[1] }], "the sequence is 2, expected below 2"),
        (&[Work { sequence: 0, tokens: &[1, 320] }], "decode token 320: the vocabulary has 320 tokens"),
        (
            &[Work { sequence: 0, tokens: &[1] }, Work { sequence: 0, tokens: &[2] }],
            "the sequence is 0, expected one that is not in the pass already",
        ),
        (&[Work { sequence: 1, tokens: &[3] }, Work { sequence: 0, tokens: &[] }], "the number of new tokens is 0"),
    ];
    for (work, wanted) in table {
        let found = engine.forward(work, Wanted::Last).unwrap_err().to_string();
        assert!(found.contains(wanted), "{found}");
        assert_eq!((engine.length(0).unwrap(), engine.length(1).unwrap()), (2, 0), "{wanted}");
    }
    engine.forward(&[Work { sequence: 0, tokens: &longer }], Wanted::Last).unwrap();
    let full = engine.forward(&[Work { sequence: 0, tokens: &[1, 2, 3] }], Wanted::Last).unwrap_err().to_string();
    assert!(full.contains("the number of new tokens is 3, expected 1 to the 2 that are left of the context"), "{full}");
    assert!(logits(&mut engine, &[5, 6, 7]) == before);
}

#[test]
fn options_and_parameters_outside_their_legal_sets_are_named() {
    let with = |change: fn(&mut Options)| {
        let mut options = options();
        change(&mut options);
        Engine::new(&mut from_gguf(Encoding::Q4_0), &options).err().unwrap().to_string()
    };
    let table = [
        (with(|o| o.context = 257), "the context is 257, expected 1 to 256"),
        (with(|o| o.context = 0), "the context is 0"),
        (with(|o| o.chunk = 0), "the chunk of tokens is 0"),
        (with(|o| o.sequences = 0), "the number of sequences is 0"),
        (with(|o| o.page_size = 0), "the page size is 0"),
        (with(|o| o.threads = 1 << 20), "the number of threads is 1048576"),
    ];
    for (found, wanted) in table {
        assert!(found.contains(wanted), "{found}");
    }
    let last = Options { all_logits: false, ..options() };
    let mut engine = Engine::new(&mut from_gguf(Encoding::F32), &last).unwrap();
    let all = engine.forward(&[Work { sequence: 0, tokens: &[1, 2] }], Wanted::All).unwrap_err().to_string();
    assert!(all.contains("the number of rows of logits is 2, expected 1 to 1"), "{all}");
    engine.forward(&[Work { sequence: 0, tokens: &[1, 2] }], Wanted::Last).unwrap();
    for (top_k, top_p, temperature) in [(-2, 1.0, 1.0), (0, f32::NAN, 1.0), (0, 1.5, 1.0), (0, 1.0, -1.0)] {
        let refused = engine.sample(1, Policy::Drawn { top_k, top_p, temperature, seed: 0 }, 0);
        assert!(matches!(refused, Err(EngineError::Call(_))), "{top_k} {top_p} {temperature}");
    }
    assert!(engine.sample(2, Policy::Greedy, 0).is_err());
}
