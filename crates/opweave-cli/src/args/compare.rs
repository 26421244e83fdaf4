// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Arguments of `compare`.

use std::path::PathBuf;

use clap::Args;

/// `opweave compare A B [A2]`
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The base
    pub(crate) base: PathBuf,
    /// What is judged
    pub(crate) new: PathBuf,
    /// A second run of the base: differences must exceed the drift between the two
    pub(crate) again: Option<PathBuf>,
    /// Smallest difference that counts, in percent
    #[arg(long, default_value_t = 1.0, value_name = "PERCENT", value_parser = percent)]
    pub(crate) threshold: f64,
    /// Fail on ambiguous, missing, new and renamed cases too
    #[arg(long)]
    pub(crate) strict: bool,
    /// Show numbers of runs that cannot be compared, without verdicts
    #[arg(long, conflicts_with = "strict")]
    pub(crate) table_only: bool,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn percent(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|e| format!("{e}"))?;
    if value.is_finite() && (0.0..1000.0).contains(&value) {
        Ok(value)
    } else {
        Err("a percentage from 0 to 1000 is needed".to_owned())
    }
}
