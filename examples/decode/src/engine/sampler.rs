// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The next token: an engine's policy on top of two operators.

use opweave::TensorMut;
use opweave::TensorRef;
use opweave::ops::{DrawBy, argmax, top_k_top_p_sampling};

use super::clock::Part;
use super::error::limit;
use super::{Engine, EngineError};

/// How a token is chosen from its logits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Policy {
    /// The likeliest.
    Greedy,
    /// Drawn; the same seed gives the same text.
    Drawn {
        /// Tokens that are kept; 0 for all.
        top_k: i32,
        /// The share of the probabilities that is kept.
        top_p: f32,
        /// What logits are divided by.
        temperature: f32,
        /// The key of the random numbers.
        seed: u64,
    },
}

impl Engine {
    /// Chooses the next token of each row of logits that the last pass gave. `drawn` counts the tokens that were drawn with
    /// the seed before.
    ///
    /// # Errors
    /// [`EngineError`], also for a parameter outside its legal set.
    pub fn sample(&mut self, rows: usize, policy: Policy, drawn: u64) -> Result<&[u32], EngineError> {
        let Engine { config, buffers: b, operators: op, clock, stream, .. } = self;
        if rows > self.next.len() {
            return Err(limit("the number of rows", rows, format!("at most {}", self.next.len())));
        }
        let logits = TensorRef::new(&b.logits[..rows * config.vocab_size], &[rows, config.vocab_size])?;
        let next = TensorMut::new(&mut self.next[..rows], &[rows])?;
        match policy {
            Policy::Greedy => clock.time(Part::Sampling, || argmax(&op.argmax, logits, next, stream))?,
            Policy::Drawn { top_k, top_p, temperature, seed } => {
                let d = &mut self.draws;
                d.top_k.fill(top_k);
                d.top_p.fill(top_p);
                d.temperature.fill(temperature);
                // Rows of one seed are different texts: each has a sequence of its own.
                d.seeds.iter_mut().enumerate().for_each(|(row, s)| *s = seed.wrapping_add((row as u64) << 32));
                d.offsets.fill(drawn);
                let by = DrawBy {
                    top_k: TensorRef::new(&d.top_k[..rows], &[rows])?,
                    top_p: TensorRef::new(&d.top_p[..rows], &[rows])?,
                    temperature: TensorRef::new(&d.temperature[..rows], &[rows])?,
                    seeds: TensorRef::new(&d.seeds[..rows], &[rows])?,
                    offsets: TensorRef::new(&d.offsets[..rows], &[rows])?,
                };
                clock.time(Part::Sampling, || top_k_top_p_sampling(&op.sampling, logits, by, next, stream))?;
            }
        }
        Ok(&self.next[..rows])
    }
}

/// What rows are drawn with.
pub(super) struct Draws {
    top_k: Vec<i32>,
    top_p: Vec<f32>,
    temperature: Vec<f32>,
    seeds: Vec<u64>,
    offsets: Vec<u64>,
}

impl Draws {
    pub(super) fn new(rows: usize) -> Self {
        Draws {
            top_k: vec![0; rows],
            top_p: vec![1.0; rows],
            temperature: vec![1.0; rows],
            seeds: vec![0; rows],
            offsets: vec![0; rows],
        }
    }
}
