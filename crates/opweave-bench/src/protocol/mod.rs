// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The protocol of local timers: how often, in which order, with which caches.
//!
//! Budgets are milliseconds, not counts, because a call takes anything from 30 ns to seconds. They become counts from an
//! estimate that holds the timed interval only: an estimate that included the flush of a cold run would shrink the count
//! of a small call a thousandfold.

mod counts;
mod order;

pub use counts::{CountError, Counts};
pub use order::{Share, Turn, in_words, schedule};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Fewest samples of a round.
pub const MIN_SAMPLES: u64 = 10;
/// Most samples of a round, and most warm-up calls: an estimate near zero must not become an endless run.
pub const MAX_SAMPLES: u64 = 100_000;
/// Turns of each implementation in a round: short against the states of a shared machine, long against what a turn begins with.
pub const TURNS: u32 = 16;
/// The same where each turn begins with a rest.
pub const RESTED_TURNS: u32 = 2;
/// Untimed samples of a distributed series.
pub const DISTRIBUTED_WARMUP: u64 = 5;
/// Samples of a distributed series.
pub const DISTRIBUTED_SAMPLES: u64 = 30;
/// Independent calls in one graph: enough that the cost of a replay itself vanishes in the quotient.
pub const GRAPH_CALLS: usize = 256;

/// Every number that decides how a time comes about. Stored with each report; two reports compare only if it is equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Budget of the warm-up before each turn.
    pub warmup_ms: f64,
    /// Budget of the samples of each round.
    pub repeat_ms: f64,
    /// Exact number of samples of each round, which replaces both budgets.
    pub iterations: Option<u64>,
    /// Rounds, each with a value of its own.
    pub rounds: u32,
    /// Turns of each implementation in a round, where several are compared: an even number.
    pub turns: u32,
    /// Rest before each turn.
    pub cooldown_s: f64,
    /// Longest time that the samples of one round may take. Fewer than [`MIN_SAMPLES`] by then means no verdict.
    pub limit_ms: f64,
    /// Longest time of a round as a multiple of `repeat_ms`, once it has [`MIN_SAMPLES`]: where preparing a sample, or reading a
    /// timer, takes many times the call, the budget of calls would take minutes and decide nothing more.
    pub patience: f64,
    /// Calls in one graph; a case that resets its inputs has one.
    pub graph_calls: usize,
    /// Bounds on the samples of a round.
    pub min_samples: u64,
    /// Bounds on the samples of a round.
    pub max_samples: u64,
}

impl Default for Protocol {
    fn default() -> Self {
        Self {
            warmup_ms: 25.0,
            repeat_ms: 100.0,
            iterations: None,
            rounds: 5,
            turns: TURNS,
            cooldown_s: 0.0,
            limit_ms: 5_000.0,
            patience: 4.0,
            graph_calls: GRAPH_CALLS,
            min_samples: MIN_SAMPLES,
            max_samples: MAX_SAMPLES,
        }
    }
}

/// What a user asked for; unset values inherit [`Protocol::default`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProtocolOptions {
    /// `--warmup-ms`
    pub warmup_ms: Option<f64>,
    /// `--repeat-ms`
    pub repeat_ms: Option<f64>,
    /// `--iterations`
    pub iterations: Option<u64>,
    /// `--rounds`
    pub rounds: Option<u32>,
    /// `--cooldown`
    pub cooldown_s: Option<f64>,
}

/// A protocol that cannot be run.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ProtocolError {
    /// A number outside its range.
    #[error("use {option} {value}: {legal}")]
    Range {
        /// The option's name.
        option: &'static str,
        /// The offending value.
        value: f64,
        /// The legal values.
        legal: &'static str,
    },
    /// An exact count and a budget at once.
    #[error("use --iterations together with {option}: an exact count replaces the budgets, give one or the other")]
    Exclusive {
        /// The budget that was given.
        option: &'static str,
    },
    /// A number for a run whose numbers are fixed.
    #[error(
        "use {option} in a distributed run: its counts are fixed, {DISTRIBUTED_WARMUP} samples to warm up and \
         {DISTRIBUTED_SAMPLES} that count"
    )]
    Fixed {
        /// The option that was given.
        option: &'static str,
    },
}

impl ProtocolOptions {
    /// The protocol of a distributed run: an estimate of its own would give each rank other counts, so they are fixed.
    ///
    /// # Errors
    /// [`ProtocolError::Fixed`] for any number that was given.
    pub fn distributed(&self) -> Result<Protocol, ProtocolError> {
        let given = [
            ("--warmup-ms", self.warmup_ms.is_some()),
            ("--repeat-ms", self.repeat_ms.is_some()),
            ("--iterations", self.iterations.is_some()),
            ("--rounds", self.rounds.is_some()),
            ("--cooldown", self.cooldown_s.is_some()),
        ];
        if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
            return Err(ProtocolError::Fixed { option });
        }
        Ok(Protocol { iterations: Some(DISTRIBUTED_SAMPLES), rounds: 1, ..Protocol::default() })
    }

    /// Fills in what is unset and checks all of it.
    ///
    /// # Errors
    /// A number outside its range, or `iterations` together with a budget.
    pub fn resolve(&self) -> Result<Protocol, ProtocolError> {
        if self.iterations.is_some() {
            for (option, given) in [("--warmup-ms", self.warmup_ms), ("--repeat-ms", self.repeat_ms)] {
                if given.is_some() {
                    return Err(ProtocolError::Exclusive { option });
                }
            }
        }
        let range = |option, value: f64, ok: bool, legal| {
            // NaN and infinities satisfy no range; `ok` is false for NaN because every comparison with it is.
            if ok && value.is_finite() { Ok(value) } else { Err(ProtocolError::Range { option, value, legal }) }
        };
        let base = Protocol::default();
        let warmup = self.warmup_ms.unwrap_or(base.warmup_ms);
        let repeat = self.repeat_ms.unwrap_or(base.repeat_ms);
        let cooldown = self.cooldown_s.unwrap_or(base.cooldown_s);
        let rounds = self.rounds.unwrap_or(base.rounds);
        range("--rounds", f64::from(rounds), (1..=1000).contains(&rounds), "1 to 1000")?;
        if let Some(n) = self.iterations {
            range("--iterations", n as f64, (1..=MAX_SAMPLES).contains(&n), "1 to 100000")?;
        }
        Ok(Protocol {
            warmup_ms: range("--warmup-ms", warmup, warmup >= 0.0, "a finite number of milliseconds, 0 or more")?,
            repeat_ms: range("--repeat-ms", repeat, repeat > 0.0, "a finite number of milliseconds above 0")?,
            cooldown_s: range("--cooldown", cooldown, (0.0..=3600.0).contains(&cooldown), "0 to 3600 seconds")?,
            iterations: self.iterations,
            rounds,
            turns: if cooldown > 0.0 { RESTED_TURNS } else { base.turns },
            ..base
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unset_options_inherit_the_protocol() {
        let p = ProtocolOptions::default().resolve().unwrap();
        assert_eq!((p.warmup_ms, p.repeat_ms, p.rounds, p.cooldown_s, p.iterations), (25.0, 100.0, 5, 0.0, None));
    }

    #[test]
    fn numbers_outside_their_range_are_refused() {
        let base = ProtocolOptions::default();
        let bad = [
            ("--warmup-ms", ProtocolOptions { warmup_ms: Some(-1.0), ..base.clone() }),
            ("--warmup-ms", ProtocolOptions { warmup_ms: Some(f64::NAN), ..base.clone() }),
            ("--repeat-ms", ProtocolOptions { repeat_ms: Some(0.0), ..base.clone() }),
            ("--repeat-ms", ProtocolOptions { repeat_ms: Some(f64::INFINITY), ..base.clone() }),
            ("--rounds", ProtocolOptions { rounds: Some(0), ..base.clone() }),
            ("--cooldown", ProtocolOptions { cooldown_s: Some(-0.5), ..base.clone() }),
            ("--iterations", ProtocolOptions { iterations: Some(0), ..base.clone() }),
            ("--iterations", ProtocolOptions { iterations: Some(100_001), ..base.clone() }),
        ];
        for (name, options) in bad {
            let error = options.resolve().unwrap_err();
            assert!(matches!(error, ProtocolError::Range { option, .. } if option == name), "{error}");
        }
        assert!(ProtocolOptions { warmup_ms: Some(0.0), ..base }.resolve().is_ok(), "no warm-up is a choice");
    }

    #[test]
    fn a_distributed_run_has_fixed_counts_and_refuses_every_other() {
        let none = ProtocolOptions::default();
        let fixed = none.distributed().unwrap();
        assert_eq!((fixed.iterations, fixed.rounds, DISTRIBUTED_WARMUP), (Some(30), 1, 5));
        let given = [
            ("--warmup-ms", ProtocolOptions { warmup_ms: Some(25.0), ..none.clone() }),
            ("--repeat-ms", ProtocolOptions { repeat_ms: Some(100.0), ..none.clone() }),
            ("--iterations", ProtocolOptions { iterations: Some(30), ..none.clone() }),
            ("--rounds", ProtocolOptions { rounds: Some(1), ..none.clone() }),
            ("--cooldown", ProtocolOptions { cooldown_s: Some(0.0), ..none.clone() }),
        ];
        for (option, options) in given {
            assert_eq!(options.distributed(), Err(ProtocolError::Fixed { option }));
        }
    }

    #[test]
    fn an_exact_count_excludes_the_budgets() {
        let with =
            |warmup_ms, repeat_ms| ProtocolOptions { iterations: Some(7), warmup_ms, repeat_ms, ..Default::default() };
        assert_eq!(with(None, None).resolve().unwrap().iterations, Some(7));
        let refused = with(None, Some(100.0)).resolve().unwrap_err();
        assert_eq!(refused, ProtocolError::Exclusive { option: "--repeat-ms" });
        assert!(with(Some(25.0), None).resolve().is_err());
    }
}
