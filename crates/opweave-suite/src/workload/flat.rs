// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A flat list of cases from several operators: `opweave suite --workloads FILE`.

use std::path::Path;

use serde::Deserialize;

use super::file::{Config, Defaults, Entry, WorkloadError, entry};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Flat {
    #[serde(default)]
    defaults: Defaults,
    #[serde(default)]
    config: Vec<toml::Table>,
}

/// Reads a list in which each config names its kernel. Every one of them is meant to run.
///
/// # Errors
/// As [`super::parse`], and for a config without a kernel or one that occurs twice.
pub fn flat(path: &Path, text: &str) -> Result<Vec<Entry>, WorkloadError> {
    let refuse = |what: String| WorkloadError { path: path.to_owned(), what };
    let flat: Flat = toml::from_str(text).map_err(|e| refuse(e.to_string().trim().to_owned()))?;
    let mut entries: Vec<Entry> = Vec::new();
    for (at, mut table) in flat.config.into_iter().enumerate() {
        let place = |what: String| refuse(format!("config {}: {what}", at + 1));
        let kernel = match table.remove("kernel") {
            Some(toml::Value::String(kernel)) => kernel,
            _ => return Err(place("it names no kernel".to_owned())),
        };
        table.entry("default").or_insert(toml::Value::Boolean(true));
        let config: Config = table.try_into().map_err(|e: toml::de::Error| place(e.to_string().trim().to_owned()))?;
        let entry = entry(&kernel, &flat.defaults, &config).map_err(place)?;
        if entries.iter().any(|e| (&e.kernel, &e.label) == (&entry.kernel, &entry.label)) {
            return Err(place(format!("{kernel} {} occurs twice", entry.label)));
        }
        entries.push(entry);
    }
    if entries.is_empty() {
        return Err(refuse("there is no [[config]], at least one is needed".to_owned()));
    }
    Ok(entries)
}
