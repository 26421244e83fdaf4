// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Sequences of different lengths together, chunks, pages.

use opweave_decode::checkpoint::Encoding;
use opweave_decode::engine::{Engine, Options, Policy, Wanted, Work};

use crate::{distance, from_gguf, greedy, logits, options};

fn text(seed: u32, length: u32) -> Vec<u32> {
    (0..length).map(|at| (at * at * 11 + at * seed + seed) % 320).collect()
}

fn engine(encoding: Encoding, change: impl FnOnce(Options) -> Options) -> Engine {
    Engine::new(&mut from_gguf(encoding), &change(options())).unwrap()
}

/// Prompts of 1, 19, 4 and 33 tokens, and twelve tokens more of each.
#[test]
fn batches_give_what_single_sequences_give_bit_for_bit() {
    for encoding in [Encoding::F32, Encoding::Q4_1] {
        let prompts = [text(3, 1), text(5, 19), text(7, 4), text(11, 33)];
        let mut alone = engine(encoding, |o| o);
        let wanted: Vec<_> = prompts.iter().map(|prompt| greedy(&mut alone, prompt, 12)).collect();

        let mut together = engine(encoding, |o| Options { sequences: 4, ..o });
        let mut next: Vec<Vec<u32>> = prompts.to_vec();
        for step in 0..12 {
            let work: Vec<Work<'_>> =
                next.iter().enumerate().map(|(sequence, tokens)| Work { sequence, tokens }).collect();
            let rows = together.forward(&work, Wanted::Last).unwrap().to_vec();
            for (row, (_, wanted)) in rows.chunks(320).zip(&wanted) {
                // A prompt of one token is decoded alone and prefilled in the batch: two operators, and two orders of sums.
                let single = step == 0 && wanted.len() == 12 && prompts[0].len() == 1;
                if single && distance(row, &wanted[step]) > 0.0 {
                    assert!(distance(row, &wanted[step]) < 1e-5, "{encoding:?} step {step}");
                    continue;
                }
                assert!(row == wanted[step], "{encoding:?} step {step}");
            }
            next = together.sample(4, Policy::Greedy, 0).unwrap().iter().map(|token| vec![*token]).collect();
            let text: Vec<u32> = next.iter().map(|token| token[0]).collect();
            assert_eq!(text, wanted.iter().map(|(text, _)| text[step]).collect::<Vec<_>>(), "{encoding:?} step {step}");
        }
    }
}

#[test]
fn the_order_of_sequences_and_the_pages_they_got_do_not_matter() {
    let mut engine = engine(Encoding::F32, |o| Options { sequences: 3, ..o });
    let (a, b) = (text(3, 21), text(5, 9));
    let both = |engine: &mut Engine, order: [(usize, &[u32]); 2]| {
        let work = order.map(|(sequence, tokens)| Work { sequence, tokens });
        engine.forward(&work, Wanted::Last).unwrap().to_vec()
    };
    let first = both(&mut engine, [(0, &a), (1, &b)]);
    engine.clear(0).unwrap();
    engine.clear(1).unwrap();
    // Other pages, given back in another order.
    engine.forward(&[Work { sequence: 2, tokens: &text(9, 18) }], Wanted::Last).unwrap();
    let second = both(&mut engine, [(1, &b), (0, &a)]);
    assert!(first[..320] == second[320..] && first[320..] == second[..320]);
}

#[test]
fn prompts_in_chunks_and_pages_of_any_size_are_one_prompt() {
    let prompt = text(13, 50);
    let whole = logits(&mut engine(Encoding::F32, |o| o), &prompt);
    for (chunk, page_size) in [(64, 1), (64, 7), (64, 128), (1, 16), (17, 16), (16, 16)] {
        let mut engine = engine(Encoding::F32, |o| Options { chunk, page_size, ..o });
        let mut found = Vec::new();
        for tokens in prompt.chunks(chunk) {
            found.extend_from_slice(engine.forward(&[Work { sequence: 0, tokens }], Wanted::All).unwrap());
        }
        let most = found.chunks(320).zip(whole.chunks(320)).map(|(a, b)| distance(a, b)).fold(0.0, f64::max);
        assert!(most < 1e-5, "chunks of {chunk}, pages of {page_size}: {most}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let prompt = text(17, 40);
    let with = |threads| logits(&mut engine(Encoding::Q8_0, |o| Options { threads, ..o }), &prompt);
    let one = with(1);
    assert!(one == with(2) && one == with(3));
}

/// Calls are kept from pass to pass while the shape is the same: a pass is what it is on an engine that made no other before.
#[test]
fn passes_of_other_shapes_before_it_change_nothing_in_a_pass() {
    let made = || engine(Encoding::Q4_1, |o| Options { sequences: 2, all_logits: true, ..o });
    let run = |engine: &mut Engine, lengths: &[u32], wanted: Wanted| {
        let texts: Vec<Vec<u32>> = lengths.iter().map(|length| text(7 + length, *length)).collect();
        let work: Vec<Work<'_>> =
            texts.iter().enumerate().map(|(sequence, tokens)| Work { sequence, tokens }).collect();
        let logits = engine.forward(&work, wanted).unwrap().to_vec();
        (0..2).for_each(|sequence| engine.clear(sequence).unwrap());
        logits
    };
    let mut one = made();
    // Alike but for one of tokens, sequences and rows.
    let shapes: [(&[u32], Wanted); 6] = [
        (&[2], Wanted::Last),
        (&[1, 1], Wanted::Last),
        (&[2], Wanted::All),
        (&[1, 2], Wanted::Last),
        (&[3], Wanted::Last),
        (&[1], Wanted::Last),
    ];
    for (lengths, wanted) in shapes.iter().chain(&shapes) {
        let (found, expected) = (run(&mut one, lengths, *wanted), run(&mut made(), lengths, *wanted));
        assert_eq!(found.len(), expected.len(), "{lengths:?} {wanted:?}");
        assert!(found == expected, "{lengths:?} {wanted:?}");
    }
}
