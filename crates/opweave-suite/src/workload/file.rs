// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One workload file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use opweave_bench::measurement::{Cache, Scope, Timer};
use serde::Deserialize;
use thiserror::Error;

/// What stands in a workload file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The operator; the file's stem.
    pub kernel: String,
    /// What holds for every config that does not say otherwise.
    #[serde(default)]
    pub defaults: Defaults,
    /// The cases.
    #[serde(default)]
    pub config: Vec<Config>,
}

/// How a case is timed. What is absent is inherited: from the file's defaults, then from the protocol's.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// How times are taken; the device's own way unless said.
    pub timer: Option<String>,
    /// How much is timed: `kernel_only`.
    pub scope: Option<String>,
    /// Where the inputs are: `cold` unless said.
    pub cache: Option<String>,
    /// Budget of the warm-up before each turn, in milliseconds.
    pub warmup_ms: Option<f64>,
    /// Budget of the samples of a round, in milliseconds.
    pub repeat_ms: Option<f64>,
    /// Devices that one call takes: 1.
    pub devices: Option<u32>,
    /// Seconds after which the process of a row is ended.
    pub deadline_s: Option<f64>,
    /// References: stems of programs in suites/references, or a registered implementation.
    pub references: Option<Vec<String>>,
    /// References that may be missing.
    pub optional_references: Option<Vec<String>>,
}

/// One case of a workload file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// A label of the operator's bench cases.
    pub label: String,
    /// Whether the default sweep has it.
    pub default: bool,
    /// What selection chooses, by device key: `--check` asks it, `--against` marks a change.
    #[serde(default)]
    pub implementation: BTreeMap<String, String>,
    /// How times are taken.
    pub timer: Option<String>,
    /// How much is timed.
    pub scope: Option<String>,
    /// Where the inputs are.
    pub cache: Option<String>,
    /// Budget of the warm-up, in milliseconds.
    pub warmup_ms: Option<f64>,
    /// Budget of a round, in milliseconds.
    pub repeat_ms: Option<f64>,
    /// Devices that one call takes.
    pub devices: Option<u32>,
    /// Seconds after which the process of the row is ended.
    pub deadline_s: Option<f64>,
    /// References.
    pub references: Option<Vec<String>>,
    /// References that may be missing.
    pub optional_references: Option<Vec<String>>,
}

/// A case with everything that decides how it is timed.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The operator.
    pub kernel: String,
    /// The case.
    pub label: String,
    /// Whether the default sweep has it.
    pub default: bool,
    /// How times are taken; `None` is the device's own way.
    pub timer: Option<Timer>,
    /// How much is timed.
    pub scope: Scope,
    /// Where the inputs are.
    pub cache: Cache,
    /// Budget of the warm-up, in milliseconds.
    pub warmup_ms: Option<f64>,
    /// Budget of a round, in milliseconds.
    pub repeat_ms: Option<f64>,
    /// Devices that one call takes.
    pub devices: u32,
    /// Seconds after which the process of the row is ended.
    pub deadline_s: f64,
    /// References that have to be measured.
    pub references: Vec<String>,
    /// References that may be missing.
    pub optional_references: Vec<String>,
    /// What selection chooses, by device key.
    pub implementation: BTreeMap<String, String>,
}

/// A row that takes longer is ended: ten times what the slowest takes.
const DEADLINE_S: f64 = 300.0;

/// Why a workload file cannot be used.
#[derive(Debug, Error)]
#[error("read workloads {}: {what}", path.display())]
pub struct WorkloadError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, with the offending value and the legal set.
    pub what: String,
}

/// Reads a workload file and checks everything that can be checked without the operator's suite.
///
/// # Errors
/// [`WorkloadError`]: no TOML, an unknown key, a value outside its range, a stem that is not the kernel.
pub fn parse(path: &Path, text: &str) -> Result<Vec<Entry>, WorkloadError> {
    let refuse = |what: String| WorkloadError { path: path.to_owned(), what };
    let workload: Workload = toml::from_str(text).map_err(|e| refuse(e.to_string().trim().to_owned()))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if stem != workload.kernel {
        return Err(refuse(format!(
            "kernel is `{}`, the file's stem is `{stem}`: they must be equal",
            workload.kernel
        )));
    }
    if workload.config.is_empty() {
        return Err(refuse("there is no [[config]], at least one is needed".to_owned()));
    }
    let mut labels = BTreeSet::new();
    let mut entries = Vec::new();
    for config in &workload.config {
        if !labels.insert(&config.label) {
            return Err(refuse(format!("label `{}` occurs twice, labels are unique", config.label)));
        }
        let entry = entry(&workload.kernel, &workload.defaults, config);
        entries.push(entry.map_err(|what| refuse(format!("config `{}`: {what}", config.label)))?);
    }
    if !entries.iter().any(|entry| entry.default) {
        return Err(refuse("no config has default = true, the default sweep would leave the operator out".to_owned()));
    }
    Ok(entries)
}

/// What a config says, or its file, or nobody.
pub(super) fn entry(kernel: &str, defaults: &Defaults, config: &Config) -> Result<Entry, String> {
    let word = |own: &Option<String>, common: &Option<String>| own.clone().or_else(|| common.clone());
    let timer = word(&config.timer, &defaults.timer).map(|t| t.parse::<Timer>()).transpose().map_err(text)?;
    let scope = word(&config.scope, &defaults.scope).map_or(Ok(Scope::KernelOnly), |s| s.parse()).map_err(text)?;
    let cache = word(&config.cache, &defaults.cache).map_or(Ok(Cache::Cold), |c| c.parse()).map_err(text)?;
    if scope != Scope::KernelOnly {
        return Err(format!("scope `{scope}` has no timer yet, `{}` has", Scope::KernelOnly));
    }
    let warmup_ms = config.warmup_ms.or(defaults.warmup_ms);
    if let Some(ms) = warmup_ms.filter(|ms| !(ms.is_finite() && *ms >= 0.0)) {
        return Err(format!("warmup_ms is {ms}, it must be 0 or more"));
    }
    let repeat_ms = config.repeat_ms.or(defaults.repeat_ms);
    if let Some(ms) = repeat_ms.filter(|ms| !(ms.is_finite() && *ms > 0.0)) {
        return Err(format!("repeat_ms is {ms}, it must be above 0"));
    }
    if timer == Some(Timer::Distributed) && (warmup_ms.is_some() || repeat_ms.is_some()) {
        return Err("timer `distributed` has fixed counts and refuses warmup_ms and repeat_ms".to_owned());
    }
    let devices = config.devices.or(defaults.devices).unwrap_or(1);
    if devices != 1 {
        return Err(format!("devices is {devices}, every operator there is takes 1"));
    }
    let deadline_s = config.deadline_s.or(defaults.deadline_s).unwrap_or(DEADLINE_S);
    if !(deadline_s.is_finite() && deadline_s > 0.0) {
        return Err(format!("deadline_s is {deadline_s}, it must be above 0"));
    }
    let list = |own: &Option<Vec<String>>, common: &Option<Vec<String>>| {
        own.clone().or_else(|| common.clone()).unwrap_or_default()
    };
    let references = list(&config.references, &defaults.references);
    let optional_references = list(&config.optional_references, &defaults.optional_references);
    let mut names = BTreeSet::new();
    if let Some(twice) = references.iter().chain(&optional_references).find(|name| !names.insert(*name)) {
        return Err(format!("reference `{twice}` occurs twice"));
    }
    if references.iter().chain(&optional_references).filter(|name| name.contains('.')).count() > 1 {
        return Err("at most one registered implementation can be a reference".to_owned());
    }
    if !says_dimensions(&config.label) {
        return Err("a label says its dimensions, as in t16_h4096_bf16".to_owned());
    }
    Ok(Entry {
        kernel: kernel.to_owned(),
        label: config.label.clone(),
        default: config.default,
        timer,
        scope,
        cache,
        warmup_ms,
        repeat_ms,
        devices,
        deadline_s,
        references,
        optional_references,
        implementation: config.implementation.clone(),
    })
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Letters and then a number, at least once.
fn says_dimensions(label: &str) -> bool {
    label.split('_').any(|part| {
        let digits = part.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        digits.len() < part.len() && digits.starts_with(|c: char| c.is_ascii_digit()) && part.len() > 1
    })
}

/// Reads every workload file below `root`: `<family>/<kernel>.toml`, in byte order of their paths.
///
/// # Errors
/// Each file that cannot be read or used, and a folder that cannot be listed.
pub fn read_tree(root: &Path) -> Result<Vec<(PathBuf, Vec<Entry>)>, Vec<WorkloadError>> {
    let refuse = |path: &Path, e: std::io::Error| WorkloadError { path: path.to_owned(), what: e.to_string() };
    let list = |folder: &Path| -> Result<Vec<PathBuf>, WorkloadError> {
        let entries = std::fs::read_dir(folder).map_err(|e| refuse(folder, e))?;
        let mut paths: Vec<PathBuf> =
            entries.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>().map_err(|e| refuse(folder, e))?;
        paths.sort();
        Ok(paths)
    };
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for folder in list(root).map_err(|e| vec![e])?.into_iter().filter(|path| path.is_dir()) {
        for path in list(&folder).map_err(|e| vec![e])? {
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let read = std::fs::read_to_string(&path).map_err(|e| refuse(&path, e));
            match read.and_then(|text| parse(&path, &text)) {
                Ok(entries) => files.push((path, entries)),
                Err(error) => errors.push(error),
            }
        }
    }
    if errors.is_empty() { Ok(files) } else { Err(errors) }
}
