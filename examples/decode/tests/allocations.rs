// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Nothing is allocated, selected or prepared while text is decoded.

#![expect(clippy::unwrap_used, reason = "tests and their helpers: what cannot be set up is a failed test")]

#[path = "support/mod.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Cursor;
use std::sync::atomic::{AtomicUsize, Ordering};

use opweave_decode::checkpoint::{Checkpoint, Encoding};
use opweave_decode::engine::{Engine, FloatForm, Options, Policy, Wanted, WeightForm, Work};

/// Requests of all threads.
static REQUESTS: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        REQUESTS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's clauses.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        REQUESTS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's clauses.
        unsafe { System.realloc(at, layout, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's clauses.
        unsafe { System.dealloc(at, layout) }
    }
}

/// The only test of this program: no other thread may allocate meanwhile.
#[test]
fn decoding_allocates_and_prepares_nothing() {
    let drawn = Policy::Drawn { top_k: 40, top_p: 0.9, temperature: 0.8, seed: 1 };
    for (encoding, weights, quantised_activations) in [
        (Encoding::F32, WeightForm::Stored, false),
        (Encoding::F32, WeightForm::Float(FloatForm::Bf16), false),
        (Encoding::Q4_1, WeightForm::Stored, false),
        (Encoding::Q4_1, WeightForm::Stored, true),
        (Encoding::Q8_0, WeightForm::Stored, true),
    ] {
        let file = support::files::gguf(encoding, true).bytes();
        let mut checkpoint = Checkpoint::from_gguf(Box::new(Cursor::new(file))).unwrap();
        let options =
            Options { threads: 2, chunk: 32, context: 200, weights, quantised_activations, ..Options::default() };
        let mut engine = Engine::new(&mut checkpoint, &options).unwrap();
        // Threads wake for the first time, and the system sets up what belongs to each.
        engine.forward(&[Work { sequence: 0, tokens: &[1, 2, 3, 4] }], Wanted::Last).unwrap();
        let mut token = engine.sample(1, Policy::Greedy, 0).unwrap()[0];
        let plans = engine.bindings().plans().len();

        let before = REQUESTS.load(Ordering::Relaxed);
        engine.forward(&[Work { sequence: 0, tokens: &[5; 32] }], Wanted::Last).unwrap();
        for count in 0..100 {
            engine.forward(&[Work { sequence: 0, tokens: &[token] }], Wanted::Last).unwrap();
            let policy = if count % 2 == 0 { Policy::Greedy } else { drawn };
            token = engine.sample(1, policy, count).unwrap()[0];
        }
        let requests = REQUESTS.load(Ordering::Relaxed) - before;
        assert_eq!(requests, 0, "{encoding:?} {weights:?} quantised activations {quantised_activations}");
        assert_eq!(engine.bindings().plans().len(), plans);
    }
}
