// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Shards of one sweep become one run.

use std::collections::BTreeSet;

use thiserror::Error;

use super::{Planned, Run, RunState};

/// Runs that do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("merge {id}: {problem}")]
pub struct MergeError {
    /// The run.
    pub id: String,
    /// What is wrong, with both values.
    pub problem: String,
}

/// Joins shards. The result is whole once every row of the sweep is there.
///
/// # Errors
/// [`MergeError`]: nothing to merge, a run that is no shard, a row in two of them, or shards of unlike devices, revisions or
/// protocols.
pub fn merge_shards(runs: &[Run], id: &str) -> Result<Run, MergeError> {
    let refuse = |run: &str, problem: String| Err(MergeError { id: run.to_owned(), problem });
    let Some(first) = runs.first() else { return refuse(id, "there are no runs".to_owned()) };
    let mut merged = first.clone();
    let mut seen: BTreeSet<Planned> = BTreeSet::new();
    (merged.id, merged.planned, merged.rows) = (id.to_owned(), Vec::new(), Vec::new());
    merged.state = RunState::Complete;
    for run in runs {
        let Some(shard) = &run.shard else { return refuse(&run.id, "it is no shard".to_owned()) };
        for (field, base, other) in [
            ("device", first.device.name.clone(), run.device.name.clone()),
            ("device key", first.device.key.clone(), run.device.key.clone()),
            ("driver", format!("{:?}", first.driver), format!("{:?}", run.driver)),
            ("threads", format!("{:?}", first.threads), format!("{:?}", run.threads)),
            ("protocol", format!("{:?}", first.protocol), format!("{:?}", run.protocol)),
            ("revision", format!("{:?}", first.revision), format!("{:?}", run.revision)),
            ("build", first.build.clone(), run.build.clone()),
            ("rows of the whole sweep", first.whole.to_string(), run.whole.to_string()),
            ("filter", filter(first), filter(run)),
        ] {
            if base != other {
                return refuse(&run.id, format!("its {field} is {other}, that of {} is {base}", first.id));
            }
        }
        for planned in &run.planned {
            if !seen.insert(planned.clone()) {
                return refuse(&run.id, format!("{planned} of shard {shard} is in another shard as well"));
            }
        }
        merged.planned.extend(run.planned.iter().cloned());
        merged.rows.extend(run.rows.iter().cloned());
        if run.state != RunState::Complete {
            merged.state = RunState::Stopped;
        }
        merged.leased &= run.leased;
        merged.admitted_work = most(merged.admitted_work, run.admitted_work);
        merged.dirty = match (merged.dirty, run.dirty) {
            (Some(a), Some(b)) => Some(a || b),
            _ => None,
        };
        merged.started_unix_s = merged.started_unix_s.min(run.started_unix_s);
        merged.elapsed_s = merged.elapsed_s.max(run.elapsed_s);
    }
    merged.shard = None;
    let others = filter(first);
    let missing = first.whole.saturating_sub(seen.len());
    merged.partial = match (others.is_empty(), missing) {
        (true, 0) => None,
        (false, 0) => Some(others),
        (_, n) => Some(format!("{others} {n} of {} rows are in no shard", first.whole).trim().to_owned()),
    };
    Ok(merged)
}

/// The more that others were admitted to.
fn most(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(f64::max)
}

/// Why a shard is partial, but for being a shard.
fn filter(run: &Run) -> String {
    let partial = run.partial.clone().unwrap_or_default();
    match partial.find("--shard") {
        Some(at) => partial[..at].trim().to_owned(),
        None => partial,
    }
}
