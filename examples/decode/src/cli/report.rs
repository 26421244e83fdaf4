// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a run was, in numbers.

use std::time::Duration;

use opweave_decode::engine::{Clock, Engine, Kernels, Spent};
use serde::Serialize;

/// One part of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Stage {
    /// Tokens that went through the model.
    pub(crate) tokens: usize,
    /// From begin to end, in microseconds.
    pub(crate) time_us: f64,
    /// The first by the second.
    pub(crate) tokens_per_second: f64,
    /// Share of the time outside of operators, in percent.
    pub(crate) outside_percent: f64,
    /// Where the time went.
    pub(crate) parts: Vec<Spent>,
}

impl Stage {
    pub(crate) fn new(tokens: usize, time: Duration, clock: &Clock) -> Self {
        let seconds = time.as_secs_f64().max(1e-9);
        Stage {
            tokens,
            time_us: seconds * 1e6,
            tokens_per_second: tokens as f64 / seconds,
            outside_percent: (1.0 - clock.total().as_secs_f64() / seconds).max(0.0) * 100.0,
            parts: clock.spent(),
        }
    }

    fn text(&self, name: &str) -> String {
        let Stage { tokens, time_us, tokens_per_second, outside_percent, parts } = self;
        let time = time_us / 1e6;
        let mut out = format!("{name:<8} {tokens:>6} tokens in {time:>8.3} s: {tokens_per_second:>8.1} tokens/s\n");
        for Spent { part, calls, time_us: spent } in parts {
            let share = spent / time_us * 100.0;
            out += &format!("  {part:<16} {calls:>7} calls {:>10.3} ms {share:>5.1} %\n", spent / 1e3);
        }
        out + &format!("  {:<16} {:>24.3} ms {outside_percent:>5.1} %\n", "outside", time_us * outside_percent / 1e5)
    }
}

/// A whole run.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The format of this document.
    schema_version: u32,
    /// Time to read and pack the weights, in seconds.
    pub(crate) load_s: f64,
    /// Bytes of matrices that a decoded token reads.
    pub(crate) bytes_per_token: usize,
    pub(crate) prefill: Stage,
    pub(crate) decode: Stage,
    /// What was decoded.
    pub(crate) tokens: Vec<u32>,
    pub(crate) text: String,
    /// Whether the user ended it.
    pub(crate) interrupted: bool,
    /// Which kernel runs each operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kernels: Option<Kernels>,
}

impl Report {
    pub(crate) fn new(engine: &Engine, load: Duration, stages: [Stage; 2], tokens: Vec<u32>, text: String) -> Self {
        let [prefill, decode] = stages;
        Report {
            schema_version: 1,
            load_s: load.as_secs_f64(),
            bytes_per_token: engine.bytes_per_token(),
            prefill,
            decode,
            tokens,
            text,
            interrupted: false,
            kernels: None,
        }
    }

    /// For people.
    pub(crate) fn summary(&self) -> String {
        let rate = self.bytes_per_token as f64 * self.decode.tokens_per_second / 1e9;
        let weights = self.bytes_per_token as f64 / 1e6;
        format!(
            "load     {:>24.3} s\n{}{}weights  {weights:>8.1} MB a token, {rate:.1} GB/s\n",
            self.load_s,
            self.prefill.text("prefill"),
            self.decode.text("decode"),
        )
    }
}
