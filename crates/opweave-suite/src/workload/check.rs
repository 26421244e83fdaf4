// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What `opweave suite --check` looks at: the files against the suites, with no device.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use opweave_contract::{Operator, nearest};
use opweave_numerics::suite::{DynCase, SuiteSet};

use super::file::{Entry, read_tree};

/// Something to mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, or the one that is missing.
    pub path: PathBuf,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}

/// What selection chooses for a case on a device that may not be here: the row's name, or why there is none.
pub type Choose<'a> = &'a dyn Fn(&dyn DynCase, &str) -> Result<String, String>;

/// Every operation with its family, in the order of their declarations.
#[must_use]
pub fn families() -> Vec<(&'static str, &'static str)> {
    macro_rules! named {
        ([$into:ident] $family:ident: $($module:ident: $operator:ident),* $(,)?) => {
            $($into.extend([(
                <opweave_contract::ops::$family::$operator as Operator>::NAME,
                stringify!($family),
            )]);)*
        };
    }
    let mut found = Vec::new();
    opweave_contract::operators!(named found);
    found
}

/// Checks the workload files below `root`: each operator has one in its family's folder, each label is a bench case, and
/// selection chooses what a file says. Answers the entries with the findings.
#[must_use]
pub fn check(root: &Path, suites: &SuiteSet, choose: Option<Choose<'_>>) -> (Vec<Entry>, Vec<Finding>) {
    let files = match read_tree(root) {
        Ok(files) => files,
        Err(errors) => {
            let finding = |e: super::WorkloadError| Finding { path: e.path, message: e.what };
            return (Vec::new(), errors.into_iter().map(finding).collect());
        }
    };
    let families: BTreeMap<&str, &str> = families().into_iter().collect();
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    let mut entries = Vec::new();
    for (path, of_file) in files {
        let Some(kernel) = of_file.first().map(|entry| entry.kernel.clone()) else { continue };
        let mut find = |message: String| findings.push(Finding { path: path.clone(), message });
        let Some(suite) = suites.get(&kernel) else {
            let hint =
                nearest(&kernel, suites.operations()).map_or_else(String::new, |n| format!(", did you mean `{n}`?"));
            find(format!("there is no operator `{kernel}`{hint}"));
            continue;
        };
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        if let Some(family) = families.get(kernel.as_str()).filter(|family| **family != folder) {
            find(format!("`{kernel}` belongs to family {family}, the file lies in {folder}"));
        }
        if !seen.insert(kernel.clone()) {
            find(format!("`{kernel}` has another workload file"));
        }
        match suite.bench_cases(&[]) {
            Ok(cases) => check_entries(&of_file, &cases, choose, &mut find),
            Err(error) => find(error.to_string()),
        }
        check_references(root, &of_file, &mut find);
        entries.extend(of_file);
    }
    for operation in suites.operations().filter(|operation| !seen.contains(*operation)) {
        let family = families.get(operation).copied().unwrap_or("FAMILY");
        let path = root.join(family).join(format!("{operation}.toml"));
        findings.push(Finding { path, message: format!("operator `{operation}` has no workload file") });
    }
    findings.sort_by(|a, b| (&a.path, &a.message).cmp(&(&b.path, &b.message)));
    (entries, findings)
}

fn check_entries(
    entries: &[Entry],
    cases: &[Box<dyn DynCase>],
    choose: Option<Choose<'_>>,
    find: &mut dyn FnMut(String),
) {
    let labels: BTreeMap<String, &dyn DynCase> = cases.iter().map(|case| (case.info().label, &**case)).collect();
    for entry in entries {
        let Some(case) = labels.get(&entry.label) else {
            let hint = nearest(&entry.label, labels.keys().map(String::as_str));
            let hint = hint.map_or_else(String::new, |n| format!(", did you mean `{n}`?"));
            find(format!("label `{}` is no bench case of `{}`{hint}", entry.label, entry.kernel));
            continue;
        };
        let Some(choose) = choose else { continue };
        for (device, stated) in &entry.implementation {
            match choose(*case, device) {
                Ok(chosen) if chosen == *stated => {}
                Ok(chosen) => find(format!(
                    "config `{}` says that {device} runs `{stated}`, selection chooses `{chosen}`",
                    entry.label
                )),
                Err(reason) => find(format!("config `{}` says that {device} runs `{stated}`: {reason}", entry.label)),
            }
        }
    }
}

/// Adapters are files; names with a dot are registered implementations, which the run itself refuses if they are none.
fn check_references(root: &Path, entries: &[Entry], find: &mut dyn FnMut(String)) {
    let all = entries.iter().flat_map(|entry| entry.references.iter().chain(&entry.optional_references));
    let stems: BTreeSet<&String> = all.filter(|name| !name.contains('.')).collect();
    for stem in stems {
        let program = root.join("references").join(format!("{stem}.py"));
        if !program.is_file() {
            find(format!("reference `{stem}` is no program: {} is missing", program.display()));
        }
    }
}
