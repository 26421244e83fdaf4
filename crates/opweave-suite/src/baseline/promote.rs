// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! From a run to a baseline.

use std::collections::BTreeMap;
use std::path::Path;

use opweave_bench::protocol::Protocol;
use thiserror::Error;

use super::file::{Device, parse_baseline, raw, text};
use crate::record::{Planned, RecordError, Row, Run, RunState, Status};

/// Why a run becomes no baseline.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PromoteError {
    /// Conditions that the run does not meet, all of them.
    #[error("promote run {id}: {}", .reasons.join("; "))]
    Refused {
        /// The run.
        id: String,
        /// What is wrong.
        reasons: Vec<String>,
    },
    /// The old baseline cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A row cannot be written.
    #[error("write a baseline: {0}")]
    Format(#[from] serde_json::Error),
}

/// The text of a baseline made of `run`. With `merge`, rows that the run did not measure keep the bytes that they have in
/// `old`, and a partial run is enough.
///
/// # Errors
/// [`PromoteError`], with every reason at once.
pub fn promote(run: &Run, path: &Path, old: Option<&str>, merge: bool) -> Result<String, PromoteError> {
    let device = Device::of(run);
    let mut reasons = reasons(run, merge);
    let mut kept: BTreeMap<Planned, String> = BTreeMap::new();
    if let Some(old) = old {
        // A damaged baseline is looked at by a person before it is replaced.
        let parsed = parse_baseline(path, old)?;
        if parsed.device != device {
            reasons.push(format!("{} is of {:?}, the run of {device:?}", path.display(), parsed.device));
        }
        if merge {
            let bytes = raw(path, old)?;
            kept.extend(parsed.rows.iter().map(Row::planned).zip(bytes.rows.iter().map(|row| row.get().to_owned())));
        }
    } else if merge {
        reasons.push(format!("there is no {} to merge into", path.display()));
    }
    if !reasons.is_empty() {
        return Err(PromoteError::Refused { id: run.id.clone(), reasons });
    }
    for row in &run.rows {
        // A row that this machine skips leaves what another like it has measured.
        if row.status == Status::Skip && kept.contains_key(&row.planned()) {
            continue;
        }
        let mut row = row.clone();
        row.impls.iter_mut().for_each(|one| one.raw = None);
        kept.insert(row.planned(), serde_json::to_string(&row)?);
    }
    Ok(text(&device, &kept.into_values().collect::<Vec<_>>())?)
}

/// Everything that keeps a run from becoming a baseline.
fn reasons(run: &Run, merge: bool) -> Vec<String> {
    let mut reasons = Vec::new();
    if run.state != RunState::Complete {
        reasons.push("it is not complete".to_owned());
    }
    match run.dirty {
        Some(false) => {}
        Some(true) => reasons.push("the checkout had changes".to_owned()),
        None => reasons.push("nobody knows whether the checkout had changes".to_owned()),
    }
    if run.revision.is_none() {
        reasons.push("it has no revision".to_owned());
    }
    if run.build != "release" {
        reasons.push(format!("it is of a {} build", run.build));
    }
    if let Some(why) = run.partial.as_ref().filter(|_| !merge) {
        reasons.push(format!("it is partial ({why}); --merge patches the rows that it has"));
    }
    let standard = Protocol::default().rounds;
    if run.protocol.rounds < standard {
        reasons.push(format!("it has {} rounds, {standard} are needed", run.protocol.rounds));
    }
    if !run.leased {
        reasons.push("its device was not leased".to_owned());
    }
    if let Some(work) = run.admitted_work {
        reasons.push(format!("it admitted others at {:.0} %", work * 100.0));
    }
    for row in &run.rows {
        if !row.status.is_acceptable() {
            reasons.push(format!("{} is `{}`", row.planned(), row.status));
        } else if let Some(why) = &row.no_verdict {
            reasons.push(format!("{} decides nothing: {why}", row.planned()));
        }
    }
    if !run.rows.iter().any(|row| row.status == Status::Ok) {
        reasons.push("no row was measured".to_owned());
    }
    reasons
}
