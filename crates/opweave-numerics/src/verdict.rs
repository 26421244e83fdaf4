// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a validated case comes to.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The verdict on one case with one implementation. The set is closed: every run ends in one of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Everything that was checked held.
    Passed,
    /// Something measured is wrong; the findings and leaves say what.
    Failed,
    /// The implementation does not take such a problem, by its own declaration.
    NotApplicable {
        /// Why.
        reason: String,
    },
    /// The environment lacks the device or the data. Not success.
    NotRun {
        /// What is missing.
        reason: String,
    },
    /// Preparing, calling or comparing broke off.
    Error {
        /// The error and its causes.
        reason: String,
    },
    /// It would have passed, but the pass proves nothing.
    Mistrusted {
        /// Why.
        reason: String,
    },
    /// It did not end in time.
    TimedOut {
        /// The limit in milliseconds.
        limit_ms: u64,
    },
}

impl Verdict {
    /// The verdict's name.
    pub const fn name(&self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::NotApplicable { .. } => "not_applicable",
            Verdict::NotRun { .. } => "not_run",
            Verdict::Error { .. } => "error",
            Verdict::Mistrusted { .. } => "mistrusted",
            Verdict::TimedOut { .. } => "timed_out",
        }
    }

    /// Whether a run with this verdict among its cases can still succeed.
    pub const fn is_acceptable(&self) -> bool {
        matches!(self, Verdict::Passed | Verdict::NotApplicable { .. })
    }

    /// The reason, for the verdicts that carry one.
    pub fn reason(&self) -> Option<String> {
        match self {
            Verdict::NotApplicable { reason }
            | Verdict::NotRun { reason }
            | Verdict::Error { reason }
            | Verdict::Mistrusted { reason } => Some(reason.clone()),
            Verdict::TimedOut { limit_ms } => Some(format!("over {limit_ms} ms")),
            Verdict::Passed | Verdict::Failed => None,
        }
    }
}

/// How many cases came to each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Passed.
    pub passed: u64,
    /// Failed.
    pub failed: u64,
    /// Not applicable.
    pub not_applicable: u64,
    /// Not run.
    pub not_run: u64,
    /// Ended in an error.
    pub error: u64,
    /// Mistrusted.
    pub mistrusted: u64,
    /// Timed out.
    pub timed_out: u64,
}

impl Counts {
    /// Counts one verdict.
    pub fn add(&mut self, verdict: &Verdict) {
        *match verdict {
            Verdict::Passed => &mut self.passed,
            Verdict::Failed => &mut self.failed,
            Verdict::NotApplicable { .. } => &mut self.not_applicable,
            Verdict::NotRun { .. } => &mut self.not_run,
            Verdict::Error { .. } => &mut self.error,
            Verdict::Mistrusted { .. } => &mut self.mistrusted,
            Verdict::TimedOut { .. } => &mut self.timed_out,
        } += 1;
    }

    /// How many verdicts were counted.
    pub const fn total(&self) -> u64 {
        self.passed + self.not_applicable + self.unacceptable()
    }

    /// How many of them a run cannot succeed with.
    pub const fn unacceptable(&self) -> u64 {
        self.failed + self.not_run + self.error + self.mistrusted + self.timed_out
    }

    /// Success: at least one pass, and nothing but passes and not-applicables.
    pub const fn is_success(&self) -> bool {
        self.passed > 0 && self.unacceptable() == 0
    }

    /// The counts that are not zero, by name.
    pub fn non_zero(&self) -> BTreeMap<&'static str, u64> {
        let all = [
            ("passed", self.passed),
            ("failed", self.failed),
            ("not_applicable", self.not_applicable),
            ("not_run", self.not_run),
            ("error", self.error),
            ("mistrusted", self.mistrusted),
            ("timed_out", self.timed_out),
        ];
        all.into_iter().filter(|(_, n)| *n > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts() -> Vec<Verdict> {
        let reason = String::from("because");
        vec![
            Verdict::Passed,
            Verdict::Failed,
            Verdict::NotApplicable { reason: reason.clone() },
            Verdict::NotRun { reason: reason.clone() },
            Verdict::Error { reason: reason.clone() },
            Verdict::Mistrusted { reason },
            Verdict::TimedOut { limit_ms: 5 },
        ]
    }

    #[test]
    fn success_needs_a_pass_and_admits_nothing_but_passes_and_not_applicables() {
        assert!(!Counts::default().is_success(), "no case is not success");
        for verdict in verdicts() {
            let mut counts = Counts::default();
            counts.add(&verdict);
            assert_eq!((counts.total(), counts.non_zero().len()), (1, 1), "{verdict:?}");
            assert_eq!(counts.is_success(), verdict == Verdict::Passed, "{verdict:?} alone");
            counts.add(&Verdict::Passed);
            assert_eq!(counts.is_success(), verdict.is_acceptable(), "{verdict:?} with a pass");
        }
    }

    #[test]
    fn verdicts_survive_json_under_their_names() {
        for verdict in verdicts() {
            let json = serde_json::to_value(&verdict).unwrap();
            assert_eq!(json["verdict"], verdict.name());
            assert_eq!(serde_json::from_value::<Verdict>(json).unwrap(), verdict);
        }
    }
}
