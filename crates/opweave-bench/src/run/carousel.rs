// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Which set of arguments comes next: one count for all implementations of a case, since they use the same memory.

use std::cell::{Cell, RefCell};

use super::cold::Flush;
use crate::sampler::SubjectError;

/// Sets of arguments, or graphs of them, in turn.
pub(super) struct Carousel<'a> {
    places: usize,
    /// The place that ran last; before the first sample none did.
    last: Cell<Option<usize>>,
    flush: RefCell<Option<Flush<'a>>>,
}

impl<'a> Carousel<'a> {
    /// `flush`: what is read each time around, where the places alone are not more than the caches hold.
    pub(super) fn new(places: usize, flush: Option<Flush<'a>>) -> Self {
        Self { places: places.max(1), last: Cell::new(None), flush: RefCell::new(flush) }
    }

    /// The place that ran last, whoever ran it. What it changed has to be put back.
    pub(super) fn last(&self) -> Option<usize> {
        self.last.get()
    }

    /// The place whose turn it is.
    pub(super) fn at(&self) -> usize {
        self.last.get().unwrap_or(0)
    }

    /// Goes on to the next place; enqueues the flush when it comes around, and says so.
    pub(super) fn turn(&self) -> Result<bool, SubjectError> {
        let next = self.last.get().map_or(0, |last| (last + 1) % self.places);
        self.last.set(Some(next));
        match &mut *self.flush.borrow_mut() {
            Some(flush) if next == 0 => flush.enqueue().map(|()| true),
            _ => Ok(false),
        }
    }
}
