// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Where runs and baselines lie.

use std::path::{Path, PathBuf};

use opweave_suite::baseline::{Baseline, parse_baseline};
use opweave_suite::history::git;
use opweave_suite::identity::slug;

use super::suite_device::Found;
use crate::args::SuiteArgs;
use crate::exit::Failure;

/// A run by its file or its id.
pub(super) fn find_run(runs: &Path, which: &Path) -> Result<PathBuf, Failure> {
    if which.is_file() {
        return Ok(which.to_owned());
    }
    let named = runs.join(format!("{}.json", which.display()));
    if named.is_file() {
        return Ok(named);
    }
    Err(Failure::usage(format_args!("there is no run {}: neither that file nor {}", which.display(), named.display())))
}

/// The baseline of a device, below the suites.
pub(super) fn baseline_path(suites: &Path, device: &str, threads: Option<usize>) -> PathBuf {
    suites.join("baseline").join(format!("{}.json", slug(device, threads)))
}

/// The baseline that a run is held to. One that was changed in this checkout needs a reason: whoever may change code could
/// otherwise change what it is held to.
pub(super) fn base(args: &SuiteArgs, asked: &str, found: &Found) -> Result<Option<Baseline>, Failure> {
    let own = baseline_path(&args.suites, &found.identity.name, found.threads);
    let (revision, path) = match asked.rsplit_once(':') {
        Some((revision, path)) if !Path::new(asked).exists() => (Some(revision), PathBuf::from(path)),
        _ => (None, if asked.is_empty() { own } else { PathBuf::from(asked) }),
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = match revision {
        Some(revision) => git(folder, &["show", &format!("{revision}:./{name}")]),
        None => std::fs::read_to_string(&path).ok(),
    };
    let Some(text) = text else {
        if args.allow_no_baseline {
            eprintln!("note: there is no baseline {}", path.display());
            return Ok(None);
        }
        let at = revision.map_or_else(String::new, |revision| format!(" at {revision}"));
        return Err(Failure::usage(format_args!(
            "there is no baseline {}{at}; `opweave promote` makes one, --allow-no-baseline goes without",
            path.display()
        )));
    };
    if revision.is_none()
        && let Some(committed) = git(folder, &["show", &format!("HEAD:./{name}")])
        && committed != text
    {
        match &args.baseline_reason {
            Some(reason) => eprintln!("note: the baseline {} was changed in this checkout: {reason}", path.display()),
            None => {
                return Err(Failure::usage(format_args!(
                    "the baseline {0} was changed in this checkout: --against HEAD:{0} takes the committed one, \
                     --baseline-reason says why the change is right",
                    path.display()
                )));
            }
        }
    }
    parse_baseline(&path, &text).map(Some).map_err(|e| Failure::usage(format_args!("failed to {e}")))
}
