// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! An allocator that remembers the largest request of each thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

struct Watch;

#[global_allocator]
static WATCH: Watch = Watch;

fn note(bytes: usize) {
    // A thread that ends has no such cell any more.
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(bytes)));
}

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Watch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's clauses.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's clauses.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the caller's clauses.
        unsafe { System.realloc(at, layout, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's clauses.
        unsafe { System.dealloc(at, layout) }
    }
}

/// What `run` answers, and the largest request that it made.
pub(crate) fn watched<T>(run: impl FnOnce() -> T) -> (T, usize) {
    LARGEST.set(0);
    let answer = run();
    (answer, LARGEST.get())
}

#[test]
fn the_largest_request_is_seen() {
    assert_eq!(watched(|| drop(std::hint::black_box(vec![0_u8; 12_345]))).1, 12_345);
}
