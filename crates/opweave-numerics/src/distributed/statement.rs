// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What must be the same on all ranks of a run.

use std::fmt::Write;

use opweave_ranks::Statement;
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::input::ALGORITHM;
use crate::report::Environment;
use crate::run::{Ground, PlannedOperation};

/// Everything about the settings, the build and the device that decides what runs and what comes out. Which device of its
/// kind a rank has is its own affair.
pub fn statement(config: &Config, ground: &Ground<'_>, environment: &Environment) -> Statement {
    let mut all = Statement::new();
    let mut say = |name: &str, value: String| all.insert(name.to_owned(), value);
    let or_none = |value: Option<&str>| value.unwrap_or("none").to_owned();
    say("opweave", environment.opweave.clone());
    say("build", environment.build.clone());
    let dirty = if environment.dirty == Some(true) { " with changes" } else { "" };
    say("revision", format!("{}{dirty}", environment.revision.as_deref().unwrap_or("unknown")));
    // The reason for its absence may name what only that host has.
    say("device", ground.device.map_or_else(|_| "none".to_owned(), |device| device.key().to_string()));
    say("threads", ground.threads.map_or_else(|| "none".to_owned(), |n| n.to_string()));
    say("mode", config.mode.to_string());
    say("implementation", or_none(config.implementation.as_deref()));
    say("label", or_none(config.label.as_deref()));
    say("tier", config.tier.to_string());
    say("seed", config.seed.to_string());
    say("grade", config.grade.to_string());
    say("inputs", ALGORITHM.to_owned());
    let tensors = config.tensors.as_ref().map(|path| {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        format!("{name} of {} bytes", std::fs::metadata(path).map_or(0, |data| data.len()))
    });
    say("tensors", or_none(tensors.as_deref()));
    say("repeat", config.repeat.to_string());
    say("batch_invariance", config.batch_invariance.to_string());
    say("case_limit_ms", config.case_limit_ms.to_string());
    let arguments: Vec<String> = config.suite_arguments.iter().map(|(name, value)| format!("{name}={value}")).collect();
    say("suite_arguments", arguments.join(" "));
    all
}

/// The cases of a plan, each with its implementation and all that decides its numbers, in their order.
pub(super) fn cases(operations: &[PlannedOperation<'_>]) -> String {
    let mut lines = Vec::new();
    for operation in operations {
        for case in &operation.cases {
            for task in &case.tasks {
                let row = task.row.map_or("none", |row| row.spec().name.as_str());
                lines.push(format!("{} {} {row} {:?}", operation.operation, case.info.label, case.info.parameters));
            }
        }
    }
    digest(&lines)
}

/// Lines as their number and a digest.
pub fn digest(lines: &[String]) -> String {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line);
        hash.update("\n");
    }
    let mut text = format!("{} sha256:", lines.len());
    for byte in &hash.finalize()[..16] {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
