// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Which entries a run takes.

use std::fmt;
use std::str::FromStr;

use opweave_contract::nearest;
use opweave_numerics::suite::Glob;
use thiserror::Error;

use super::Entry;

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Every entry instead of those of the default sweep.
    pub all: bool,
    /// Operators.
    pub kernel: Option<Glob>,
    /// Labels.
    pub label: Option<Glob>,
    /// A part of the sweep.
    pub shard: Option<Shard>,
}

/// Part `index` of `of`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub index: usize,
    /// How many there are.
    pub of: usize,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("read shard `{text}`: K/N with 1 <= K <= N is needed, as in 2/8");
        let (index, of) = text.split_once('/').ok_or_else(wrong)?;
        let (index, of) = (index.parse().map_err(|_| wrong())?, of.parse().map_err(|_| wrong())?);
        if index == 0 || index > of { Err(wrong()) } else { Ok(Shard { index, of }) }
    }
}

/// The entries of a run, in order.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// What is measured.
    pub entries: Vec<Entry>,
    /// Every entry of the sweep that this is a part of: the same for all shards.
    pub whole: usize,
    /// Why the run is partial, if so.
    pub partial: Option<String>,
}

/// A selection that leaves nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("select workloads by {filter}: nothing matches{hint}")]
pub struct SweepError {
    filter: String,
    hint: String,
}

/// Selects entries. `listed` says that they come from a flat list, all of which was asked for.
///
/// # Errors
/// [`SweepError`] where nothing is left.
pub fn sweep(entries: Vec<Entry>, filter: &Filter, listed: bool) -> Result<Sweep, SweepError> {
    let kernels: Vec<String> = entries.iter().map(|entry| entry.kernel.clone()).collect();
    let matches = |glob: &Option<Glob>, text: &str| glob.as_ref().is_none_or(|glob| glob.matches(text));
    // A label that was named is wanted, whatever the default sweep has.
    let named = |glob: &Option<Glob>| glob.as_ref().is_some_and(|g| !g.text().contains(['*', '?']));
    let chosen: Vec<Entry> = entries
        .into_iter()
        .filter(|entry| listed || filter.all || entry.default || named(&filter.label))
        .filter(|entry| matches(&filter.kernel, &entry.kernel) && matches(&filter.label, &entry.label))
        .collect();
    let mut reasons = Vec::new();
    reasons.extend(filter.kernel.as_ref().map(|glob| format!("--kernel {}", glob.text())));
    reasons.extend(filter.label.as_ref().map(|glob| format!("--label {}", glob.text())));
    reasons.extend(listed.then(|| "--workloads".to_owned()));
    let whole = chosen.len();
    let entries: Vec<Entry> = match filter.shard {
        // Neighbours are alike, so taking every n-th gives shards of like duration.
        Some(shard) => chosen.into_iter().skip(shard.index - 1).step_by(shard.of).collect(),
        None => chosen,
    };
    reasons.extend(filter.shard.map(|shard| format!("--shard {shard}")));
    if entries.is_empty() {
        let hint = filter.kernel.as_ref().and_then(|glob| nearest(glob.text(), kernels.iter().map(String::as_str)));
        let hint = hint.map_or_else(String::new, |n| format!(", did you mean --kernel {n}?"));
        let filter = if reasons.is_empty() { "default = true".to_owned() } else { reasons.join(" ") };
        return Err(SweepError { filter, hint });
    }
    let partial = (!reasons.is_empty()).then(|| reasons.join(" "));
    Ok(Sweep { entries, whole, partial })
}
