// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Which kernel runs each operator, and why.

use opweave::Prepared;
use opweave::contract::Operator;
use opweave::registry::Verdict;
use serde::Serialize;

/// The kernels of an engine, each problem once, in the order of a pass.
#[derive(Default, Debug, Clone, Serialize)]
pub struct Kernels {
    /// The choices.
    pub choices: Vec<Choice>,
}

/// One choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// The operator.
    pub operator: &'static str,
    /// The problem's facts.
    pub problem: String,
    /// The row that runs.
    pub kernel: String,
    /// Why this one.
    pub because: String,
    /// The other rows, and what was thought of each.
    pub others: Vec<String>,
}

impl Kernels {
    pub(super) fn add<O: Operator>(&mut self, op: &Prepared<O>) {
        for record in op.records() {
            let others = record.considered.iter().filter(|row| row.name != record.spec.name);
            let choice = Choice {
                operator: O::NAME,
                problem: O::all_facts(op.problem()).to_string(),
                kernel: record.spec.name.clone(),
                because: record.because.clone(),
                others: others.map(|row| format!("{}: {}", row.name, verdict(&row.verdict))).collect(),
            };
            if !self.choices.contains(&choice) {
                self.choices.push(choice);
            }
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for choice in &self.choices {
            out += &format!("{} [{}]\n  runs {}: {}\n", choice.operator, choice.problem, choice.kernel, choice.because);
            for other in &choice.others {
                out += &format!("  not  {other}\n");
            }
        }
        out
    }
}

fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Chosen { rank } => format!("chosen, rank {rank}"),
        Verdict::Eligible { rank } => format!("could run, rank {rank}"),
        Verdict::Rejected(reject) => reject.to_string(),
    }
}
