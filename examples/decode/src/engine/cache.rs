// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The cache of keys and values: pages of every layer, and which sequence has which.

use opweave::{RawTensor, ViewError};

use super::memory::Place;
use super::options::Options;
use super::{EngineError, error::limit};
use crate::checkpoint::Config;

/// Keys and values of one layer, `[pages, page_size, num_kv_heads, head_dim]` each.
struct LayerCache {
    k: Vec<f32>,
    v: Vec<f32>,
}

/// A sequence: its pages in order, and how many positions of them are filled.
#[derive(Default)]
struct Sequence {
    pages: Vec<i32>,
    length: usize,
}

/// All layers' pages, and the sequences' tables. A page has the same number in every layer.
pub(super) struct Cache {
    layers: Vec<LayerCache>,
    pages: usize,
    free: Vec<i32>,
    sequences: Vec<Sequence>,
    page_size: usize,
    context: usize,
}

impl Cache {
    pub(super) fn new(config: &Config, options: &Options) -> Self {
        let pages = options.pages() * options.sequences;
        let elements = pages * options.page_size * config.kv_size();
        let layer = |_| LayerCache { k: vec![0.0; elements], v: vec![0.0; elements] };
        let table = || Sequence { pages: Vec::with_capacity(options.pages()), length: 0 };
        Cache {
            layers: (0..config.num_layers).map(layer).collect(),
            pages,
            // The last one is taken first.
            free: (0..pages as i32).rev().collect(),
            sequences: (0..options.sequences).map(|_| table()).collect(),
            page_size: options.page_size,
            context: options.context,
        }
    }

    /// A layer's keys and values.
    pub(super) fn views(&mut self, layer: usize, config: &Config) -> Result<[RawTensor; 2], ViewError> {
        let shape = [self.pages, self.page_size, config.num_kv_heads, config.head_dim];
        let LayerCache { k, v } = &mut self.layers[layer];
        Ok([Place::of(k).view(&shape)?, Place::of(v).view(&shape)?])
    }

    /// Positions of a sequence that are filled.
    pub(super) fn length(&self, sequence: usize) -> Result<usize, EngineError> {
        let count = self.sequences.len();
        let found =
            self.sequences.get(sequence).ok_or_else(|| limit("the sequence", sequence, format!("below {count}")))?;
        Ok(found.length)
    }

    /// Whether so many positions more fit.
    pub(super) fn check(&self, sequence: usize, tokens: usize) -> Result<(), EngineError> {
        let length = self.length(sequence)?;
        let left = self.context - length;
        if tokens == 0 || tokens > left {
            return Err(limit(
                "the number of new tokens",
                tokens,
                format!("1 to the {left} that are left of the context"),
            ));
        }
        Ok(())
    }

    /// Makes room for `tokens` positions that were checked, and calls `place` with each one's position and slot.
    pub(super) fn extend(&mut self, sequence: usize, tokens: usize, mut place: impl FnMut(usize, usize)) {
        let Cache { sequences, free, page_size, .. } = self;
        let sequence = &mut sequences[sequence];
        for position in sequence.length..sequence.length + tokens {
            if position / *page_size == sequence.pages.len() {
                // As many pages exist as all sequences can have together.
                sequence.pages.extend(free.pop());
            }
            let page = sequence.pages[position / *page_size] as usize;
            place(position, page * *page_size + position % *page_size);
        }
        sequence.length += tokens;
    }

    /// The pages of a sequence.
    pub(super) fn pages_of(&self, sequence: usize) -> &[i32] {
        &self.sequences[sequence].pages
    }

    /// Forgets a sequence; its pages are free again.
    pub(super) fn clear(&mut self, sequence: usize) -> Result<(), EngineError> {
        self.length(sequence)?;
        let sequence = &mut self.sequences[sequence];
        self.free.append(&mut sequence.pages);
        sequence.length = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> Cache {
        let config = Config {
            vocab_size: 4,
            hidden_size: 4,
            intermediate_size: 4,
            num_layers: 1,
            num_heads: 1,
            num_kv_heads: 1,
            head_dim: 2,
            rms_norm_eps: 0.0,
            rope_theta: 10_000.0,
            rope_stretch: crate::checkpoint::Stretch::None,
            max_positions: 64,
            tied: true,
        };
        Cache::new(&config, &Options { sequences: 2, context: 10, page_size: 4, ..Options::default() })
    }

    fn slots(cache: &mut Cache, sequence: usize, tokens: usize) -> Vec<usize> {
        let mut slots = Vec::new();
        cache.extend(sequence, tokens, |_, slot| slots.push(slot));
        slots
    }

    #[test]
    fn pages_are_taken_as_they_are_needed_and_given_back() {
        let mut cache = cache();
        assert_eq!(cache.pages, 6);
        assert_eq!(slots(&mut cache, 0, 4), [0, 1, 2, 3]);
        assert_eq!(cache.pages_of(0), [0], "a full page needs no further one");
        assert_eq!(slots(&mut cache, 1, 1), [4]);
        assert_eq!(slots(&mut cache, 0, 2), [8, 9]);
        assert_eq!(cache.pages_of(0), [0, 2]);
        cache.clear(0).unwrap();
        assert_eq!((cache.length(0).unwrap(), cache.pages_of(0).len()), (0, 0));
        assert_eq!(slots(&mut cache, 0, 10).len(), 10);
        assert!(!cache.pages_of(0).contains(&1), "page 1 is the other sequence's");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut cache = cache();
        slots(&mut cache, 0, 9);
        assert!(cache.check(0, 1).is_ok());
        for (sequence, tokens, wanted) in [
            (0, 2, "the number of new tokens is 2, expected 1 to the 1 that are left of the context"),
            (0, 0, "the number of new tokens is 0"),
            (2, 1, "the sequence is 2, expected below 2"),
        ] {
            let found = cache.check(sequence, tokens).unwrap_err().to_string();
            assert!(found.contains(wanted), "{found}");
        }
    }
}
