// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! From a planned case to implementations that passed: preparation and validation, both outside every sample.

use std::time::{Duration, Instant};

use opweave_numerics::Verdict;
use opweave_numerics::harness::{CaseError, How, PrepareOn, PreparedCase, PreparedSource, verdict};

use super::plan::{Choice, Planned, execution_mode};
use super::{BenchConfig, BenchGround};
use opweave_numerics::Mode;

/// An implementation of a case, after validation.
pub(super) struct Ready {
    /// The prepared case; `None` if preparing failed.
    pub(super) prepared: Option<Box<dyn PreparedCase>>,
    /// What validation said.
    pub(super) verdict: Verdict,
    /// The first finding, where it failed.
    pub(super) finding: Option<String>,
}

impl Ready {
    fn failed(error: &CaseError) -> Self {
        Self { prepared: None, verdict: error.verdict(), finding: None }
    }

    /// Whether it may be timed.
    pub(super) fn passed(&self) -> bool {
        self.verdict == Verdict::Passed && self.prepared.is_some()
    }
}

/// Prepares and validates one implementation.
pub(super) fn ready(
    config: &BenchConfig,
    ground: &BenchGround<'_>,
    planned: &Planned<'_>,
    choice: &Choice<'_>,
    source: &dyn PreparedSource,
) -> Ready {
    let row = match &choice.row {
        Ok(row) => *row,
        Err(reason) => {
            let verdict = Verdict::NotApplicable { reason: reason.clone() };
            return Ready { prepared: None, verdict, finding: None };
        }
    };
    let device = match ground.numerics.device {
        Ok(device) => device,
        Err(reason) => {
            let verdict = Verdict::NotRun { reason: reason.to_owned() };
            return Ready { prepared: None, verdict, finding: None };
        }
    };
    let on = PrepareOn {
        device,
        row,
        mode: execution_mode(config.selectors.mode),
        generation: ground.numerics.registry.generation(),
        considered: &choice.considered,
    };
    let mut prepared = match source.prepare(&on) {
        Ok(prepared) => prepared,
        Err(error) => return Ready::failed(&error),
    };
    let deadline = Instant::now() + Duration::from_millis(config.selectors.case_limit_ms);
    let watch = || {
        if ground.numerics.interrupt.requested() {
            return Err(CaseError::Interrupted);
        }
        if Instant::now() > deadline {
            return Err(CaseError::TimedOut { limit_ms: config.selectors.case_limit_ms });
        }
        Ok(())
    };
    let how = How { graph: config.selectors.mode == Mode::Graph, repeat: 1, batch_invariance: false, watch: &watch };
    let judgement = match prepared.validate(&how) {
        Ok(judgement) => judgement,
        Err(error) => return Ready::failed(&error),
    };
    let constant = planned.info.parameters.get("constant").map(String::as_str);
    let finding = judgement.findings.first().map(|f| f.text.clone());
    let mut verdict = verdict(&judgement, constant);
    // Equal inputs and outputs make a kernel faster than it is on data: a reason to pass is none to be timed.
    if verdict == Verdict::Passed && (constant.is_some() || judgement.leaves.iter().any(|leaf| leaf.doubt.is_some())) {
        verdict = Verdict::Mistrusted { reason: "its values are all equal or zero, which decides times".to_owned() };
    }
    if verdict == Verdict::Passed && row.spec().solution == "reference" {
        verdict = Verdict::Mistrusted { reason: "the reference agrees with itself, which proves nothing".to_owned() };
    }
    // What validation left in the arguments is not what the timed calls should see.
    if let Err(error) = prepared.reset() {
        return Ready::failed(&error);
    }
    Ready { prepared: Some(prepared), verdict, finding }
}
