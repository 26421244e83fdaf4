// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Where the time goes.

use std::time::{Duration, Instant};

use serde::Serialize;

/// What a pass does, in its order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Rows of the embedding table.
    Embedding,
    /// Norms, with the sum before them.
    Norm,
    /// Queries, keys and values.
    Qkv,
    /// Rotation.
    Rotary,
    /// Keys and values into their pages.
    Store,
    /// Attention.
    Attention,
    /// Back from attention.
    Output,
    /// Both halves of the MLP.
    GateUp,
    /// The activation and its product.
    Activation,
    /// Back from the MLP.
    Down,
    /// Logits.
    Head,
    /// The token.
    Sampling,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 12] = [
        Part::Embedding,
        Part::Norm,
        Part::Qkv,
        Part::Rotary,
        Part::Store,
        Part::Attention,
        Part::Output,
        Part::GateUp,
        Part::Activation,
        Part::Down,
        Part::Head,
        Part::Sampling,
    ];

    /// The part and the operator that does it.
    pub fn name(self) -> &'static str {
        match self {
            Part::Embedding => "embedding",
            Part::Norm => "norms",
            Part::Qkv => "linear qkv",
            Part::Rotary => "rotary",
            Part::Store => "cache store",
            Part::Attention => "attention",
            Part::Output => "linear output",
            Part::GateUp => "linear gate, up",
            Part::Activation => "silu and mul",
            Part::Down => "linear down",
            Part::Head => "linear head",
            Part::Sampling => "sampling",
        }
    }
}

/// Time and calls of each part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    spent: [(Duration, u64); Part::ALL.len()],
}

/// One part's share.
#[derive(Clone, Debug, Serialize)]
pub struct Spent {
    /// The part.
    pub part: &'static str,
    /// Its calls.
    pub calls: u64,
    /// Their time, in microseconds.
    pub time_us: f64,
}

impl Clock {
    /// Runs a call and counts its time.
    #[inline]
    pub(super) fn time<T>(&mut self, part: Part, run: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let answer = run();
        let (time, calls) = &mut self.spent[part as usize];
        *time += begin.elapsed();
        *calls += 1;
        answer
    }

    /// Begins again.
    pub fn reset(&mut self) {
        *self = Clock::default();
    }

    /// Time of all parts together.
    pub fn total(&self) -> Duration {
        self.spent.iter().map(|(time, _)| *time).sum()
    }

    /// The parts that were called.
    pub fn spent(&self) -> Vec<Spent> {
        let parts = Part::ALL.iter().zip(&self.spent).filter(|(_, (_, calls))| *calls > 0);
        let spent = |(part, (time, calls)): (&Part, &(Duration, u64))| Spent {
            part: part.name(),
            calls: *calls,
            time_us: time.as_secs_f64() * 1e6,
        };
        parts.map(spent).collect()
    }
}
