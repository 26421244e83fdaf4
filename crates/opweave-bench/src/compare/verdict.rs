// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! When a difference is a difference.
//!
//! `slower` needs both: the value moved by more than the threshold and the drift, and the intervals do not overlap.
//! `same` needs the whole range of possible ratios inside the threshold. Everything between is `ambiguous`: the numbers
//! allow both readings, and saying so is the honest answer.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::measurement::Pair;
use crate::stats::{Interval, median_within};

/// The outcome for one series; closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The new value is lower, beyond threshold, noise and drift.
    Faster,
    /// The new value is higher, beyond threshold, noise and drift.
    Slower,
    /// No difference above the threshold is possible.
    Same,
    /// The numbers do not decide.
    Ambiguous,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
            Self::Ambiguous => "ambiguous",
        })
    }
}

/// How to judge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Smallest relative difference that counts.
    pub threshold: f64,
    /// Whether verdicts are given at all.
    pub judged: bool,
}

/// A ratio with what decided it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// New over base.
    pub ratio: f64,
    /// Ratios that the intervals allow.
    pub range: Option<(f64, f64)>,
    /// Second base over base, minus 1.
    pub drift: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is ambiguous, if the numbers alone do not say it.
    pub note: Option<String>,
}

/// Judges a pair, with the drift between two runs of the base if there is a second one.
#[must_use]
pub fn judge(pair: Pair<'_>, drift: Option<Pair<'_>>, rule: &Rule) -> Judged {
    let (base, new) = (pair.base(), pair.new_one());
    let ratio = new.impl_us / base.impl_us;
    let moved = drift.map(|d| d.new_one().impl_us / d.base().impl_us - 1.0);
    let ambiguous =
        |note: Option<String>, range| Judged { ratio, range, drift: moved, verdict: Verdict::Ambiguous, note };
    if let Some(why) = base.no_verdict.as_ref().or(new.no_verdict.as_ref()) {
        return ambiguous(Some(why.clone()), None);
    }
    let (Some(mut from), Some(to)) = (base.interval(), new.interval()) else {
        return ambiguous(Some("1 sample leaves the spread unknown".to_owned()), None);
    };
    if let Some(again) = drift.and_then(|d| d.new_one().interval()) {
        from = from.hull(again);
    }
    let range = divide(to, from);
    // Reports are validated when read, but a pair can be built from anything: a ratio that is no number decides nothing.
    if !(ratio.is_finite() && ratio > 0.0 && range.0.is_finite() && range.1.is_finite()) {
        return ambiguous(Some(format!("{} us against {} us has no ratio", new.impl_us, base.impl_us)), None);
    }
    let verdict = decide(ratio, range, rule.threshold, moved.unwrap_or(0.0));
    Judged { ratio, range: Some(range), drift: moved, verdict, note: None }
}

/// Judges ours against a baseline that took turns with it, by the ratios of neighbouring turns: each is free of whatever lasts longer
/// than a turn, and a disturbed turn is one of many.
///
/// `ratios` are baseline over ours, so a verdict of `faster` means that ours is.
#[must_use]
pub fn judge_turns(ratios: &[f64], threshold: f64) -> (Verdict, Option<Paired>) {
    // Looked at one by one, because minimum and maximum drop NaN.
    if !ratios.iter().all(|r| *r > 0.0 && r.is_finite()) {
        return (Verdict::Ambiguous, None);
    }
    let Some((low, ratio, high)) = median_within(ratios) else { return (Verdict::Ambiguous, None) };
    // Ours over baseline, the direction in which `decide` reads a ratio.
    let verdict = decide(1.0 / ratio, (1.0 / high, 1.0 / low), threshold, 0.0);
    (verdict, Some(Paired { ratio, low, high, turns: ratios.len() }))
}

/// The ratio of neighbouring turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Paired {
    /// The median, baseline over ours.
    pub ratio: f64,
    /// Lower end of its 99 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Pairs of turns.
    pub turns: usize,
}

fn divide(to: Interval, from: Interval) -> (f64, f64) {
    (to.low_us / from.high_us, to.high_us / from.low_us)
}

fn decide(ratio: f64, (low, high): (f64, f64), threshold: f64, drift: f64) -> Verdict {
    let needed = 1.0 + threshold.max(drift.abs());
    if ratio > needed && low > 1.0 {
        Verdict::Slower
    } else if ratio < 1.0 / needed && high < 1.0 {
        Verdict::Faster
    } else if low >= 1.0 / (1.0 + threshold) && high <= 1.0 + threshold {
        Verdict::Same
    } else {
        Verdict::Ambiguous
    }
}
