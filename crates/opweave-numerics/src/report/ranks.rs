// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a report says of the ranks of a distributed run.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// The ranks of a distributed run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Distributed {
    /// How many there are.
    pub size: usize,
    /// The rank whose own report this is; none for what all came to together, which rank 0 writes.
    pub rank: Option<usize>,
    /// The ranks, in order.
    pub ranks: Vec<RankProcess>,
}

/// One rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RankProcess {
    /// Its number.
    pub rank: usize,
    /// The name of its host, where the system tells.
    pub host: Option<String>,
    /// The number of its process.
    pub process: u32,
    /// Its device.
    pub device: String,
    /// The file of its own report, as it named it on its host.
    pub report: Option<String>,
}

impl RankProcess {
    /// This process.
    pub fn here(rank: usize, device: &str, report: Option<&Path>) -> RankProcess {
        RankProcess {
            rank,
            host: std::fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().to_owned()),
            process: std::process::id(),
            device: device.to_owned(),
            report: report.map(|path| path.display().to_string()),
        }
    }
}

/// One rank's verdict on a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RankVerdict {
    /// The rank.
    pub rank: usize,
    /// Its verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The first thing that it found wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
}

impl RankVerdict {
    /// `rank 1: failed: the first element ..`.
    pub fn words(&self) -> String {
        let why = self.verdict.reason().or_else(|| self.finding.clone());
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        format!("rank {}: {}{why}", self.rank, self.verdict.name())
    }
}

/// Where rank `rank` writes its own report, beside that of all at `path`: `report.json` gives `report.rank1.json`.
pub fn rank_path(path: &Path, rank: usize) -> PathBuf {
    let extension = path.extension().map_or_else(|| "json".to_owned(), |e| e.to_string_lossy().into_owned());
    path.with_extension(format!("rank{rank}.{extension}"))
}
