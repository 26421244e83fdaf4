// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Explanations: what would run, and why, on this machine or on one that is not here.

use std::fmt;

use opweave_contract::DynProblem;
use opweave_device::DeviceKey;
use opweave_registry::{Bucket, Buckets, Considered, ExecutionMode, FrozenRegistry, Verdict};

use crate::{Demands, LoadedProfile, Override, Query, SelectionError, Winner, select};

/// What would run for one bucket, and why.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The operation.
    pub operation: String,
    /// The problem's facts, where one was stated.
    pub problem: Option<String>,
    /// The sizes.
    pub bucket: Bucket,
    /// The device.
    pub device: String,
    /// The execution mode.
    pub mode: ExecutionMode,
    /// The row that would run and why it wins, or why none does.
    pub outcome: Result<(String, Winner), SelectionError>,
    /// Every row of the operation.
    pub considered: Vec<Considered>,
}

/// Explains selection for every bucket.
#[expect(clippy::too_many_arguments, reason = "the arguments of selection, no more and no less")]
pub fn explain(
    registry: &FrozenRegistry,
    operation: &str,
    problem: Option<&DynProblem>,
    buckets: &Buckets,
    key: &DeviceKey,
    mode: ExecutionMode,
    demands: Demands,
    overriding: Option<&Override>,
    profile: Option<&LoadedProfile>,
) -> Vec<Explanation> {
    let explain_one = |bucket| {
        let query = Query { operation, problem, bucket, key, mode, demands, overriding, profile };
        let (outcome, considered) = match select(registry, &query) {
            Ok(s) => (Ok((s.row.spec().name.clone(), s.winner)), s.considered),
            Err(e) => {
                let considered = e.considered.clone();
                (Err(e), considered)
            }
        };
        Explanation {
            operation: operation.to_owned(),
            problem: problem.map(|p| p.facts().to_string()),
            bucket,
            device: key.to_string(),
            mode,
            outcome,
            considered,
        }
    };
    buckets.iter().map(explain_one).collect()
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.operation)?;
        if let Some(problem) = &self.problem {
            write!(f, " [{problem}]")?;
        }
        writeln!(f, " on {} in {} mode, bucket {}", self.device, self.mode, self.bucket)?;
        match &self.outcome {
            Ok((row, winner)) => writeln!(f, "  runs {row}: {winner}")?,
            Err(_) => writeln!(f, "  nothing applies")?,
        }
        let width = self.considered.iter().map(|c| c.name.len()).max().unwrap_or(0);
        for row in &self.considered {
            let verdict = match &row.verdict {
                Verdict::Chosen { rank } => format!("chosen, rank {rank}"),
                Verdict::Eligible { rank } => format!("eligible, rank {rank}"),
                Verdict::Rejected(reason) => format!("rejected: {reason}"),
            };
            writeln!(f, "  {:width$}  {verdict}", row.name)?;
        }
        Ok(())
    }
}
