// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! References outside this process: PyTorch, Triton or whatever else a program can call.
//!
//! An adapter gets the case's inputs in a file, computes it once, and its outputs are held to the same comparator as ours.
//! Then it takes its turns: for each sample it is asked once, and it takes it as ours are taken. What it does not have it
//! refuses, and the row is skipped; what goes wrong leaves ours measured and marks its row.

mod alone;
mod dialogue;
mod process;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use opweave_numerics::Verdict;
use opweave_numerics::harness::{PreparedSource, verdict};
use opweave_numerics::report::Implementation;

pub(super) use dialogue::Arranged;
use dialogue::{Answer, Ask};
pub(super) use process::Adapter;
use process::AdapterError;

use super::plan::Planned;
use crate::report::{Row, RowStatus};
use crate::sampler::{Sample, Subject, SubjectError};

/// What stands in reports for the solution of an implementation outside this process.
pub(super) const SOLUTION: &str = "external";

/// Whether a reference can be had on this machine at all: starts its program, hears who it is, and ends it. `cache` is the folder
/// of [`BenchConfig::reference_cache`](super::BenchConfig::reference_cache), `device` what
/// it is to measure on, `limit` the longest wait.
///
/// # Errors
/// What the program says, as a row that needs it would.
pub fn greet(program: &Path, cache: &Path, device: &str, limit: Duration) -> Result<(), String> {
    let mut adapter = Adapter::new(program, kept(cache, program), device, limit);
    adapter.greet().map_err(|error| format!("failed to {error}"))
}

/// Where a program keeps what it compiles.
pub(super) fn kept(cache: &Path, program: &Path) -> PathBuf {
    cache.join(program.file_stem().unwrap_or_default())
}

/// Prepares and validates a case on an adapter, and fills its row in.
pub(super) fn introduce(adapter: &RefCell<Adapter>, planned: &Planned<'_>, source: &dyn PreparedSource, row: &mut Row) {
    let mut adapter = adapter.borrow_mut();
    let outcome = prepare(&mut adapter, planned, source);
    row.implementation.name.clone_from(&adapter.name);
    if !adapter.provenance.is_empty() {
        row.notes.push(format!("{}: {}", adapter.name, adapter.provenance));
    }
    (row.status, row.reason, row.validation) = match outcome {
        Ok(Outcome::Judged(Verdict::Passed, notes)) => {
            row.notes.extend(notes);
            (RowStatus::Ok, None, Verdict::Passed)
        }
        Ok(Outcome::Judged(verdict, _)) => (RowStatus::Fail, verdict.reason(), verdict),
        Ok(Outcome::Wrong(finding)) => (RowStatus::Fail, Some(finding), Verdict::Failed),
        Ok(Outcome::Refused(reason)) => (RowStatus::Skip, Some(reason.clone()), Verdict::NotApplicable { reason }),
        Err(error) => {
            let reason = format!("failed to {error}");
            (RowStatus::Fail, Some(reason.clone()), Verdict::Error { reason })
        }
    };
}

enum Outcome {
    Judged(Verdict, Vec<String>),
    Wrong(String),
    Refused(String),
}

fn prepare(adapter: &mut Adapter, planned: &Planned<'_>, source: &dyn PreparedSource) -> Result<Outcome, AdapterError> {
    let failed = |error: &dyn std::fmt::Display| AdapterError::Failed(error.to_string());
    let folder = tempfile::tempdir().map_err(|e| failed(&e))?;
    let (inputs_file, outputs_file) =
        (folder.path().join("inputs.safetensors"), folder.path().join("outputs.safetensors"));
    let exchange = source.export(&inputs_file).map_err(|e| failed(&e))?;
    let device = adapter.device();
    let answer = adapter.ask(&Ask::Prepare {
        device: &device,
        operation: planned.info.operation,
        label: &planned.info.label,
        problem: &planned.info.parameters,
        scalars: &exchange.scalars,
        inputs: &exchange.inputs,
        inputs_file: &inputs_file,
        outputs: &exchange.outputs,
        outputs_file: &outputs_file,
    })?;
    let notes = match answer {
        Answer::Prepared { notes } => notes,
        Answer::Refused { reason } => return Ok(Outcome::Refused(reason)),
        other => return Err(adapter.unexpected(&other)),
    };
    let judgement = source.judge_file(&outputs_file).map_err(|e| failed(&e))?;
    if let Some(finding) = judgement.findings.first() {
        return Ok(Outcome::Wrong(finding.text.clone()));
    }
    let constant = planned.info.parameters.get("constant").map(String::as_str);
    Ok(Outcome::Judged(verdict(&judgement, constant), notes))
}

/// The row of an adapter before anything was tried.
pub(super) fn implementation(program: &Path) -> Implementation {
    Implementation {
        name: program.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
        solution: SOLUTION.to_owned(),
        variant: None,
        binding: "process".to_owned(),
        deterministic: false,
        batch_invariant: false,
        launch: Default::default(),
    }
}

/// A prepared case of an adapter, arranged for samples.
pub(super) struct External<'a> {
    adapter: &'a RefCell<Adapter>,
    calls: usize,
}

impl<'a> External<'a> {
    pub(super) fn new(adapter: &'a RefCell<Adapter>, arranged: Arranged) -> Result<Self, SubjectError> {
        let external = External { adapter, calls: arranged.calls };
        external.ask(&Ask::Series(arranged), |answer| matches!(answer, Answer::Ready).then_some(()))?;
        Ok(external)
    }

    /// Asks for one kind of answer. What goes wrong is kept with the adapter, so that the case can go on without it.
    fn ask<T>(&self, ask: &Ask<'_>, wanted: impl FnOnce(&Answer) -> Option<T>) -> Result<T, SubjectError> {
        let mut adapter = self.adapter.borrow_mut();
        let answer = adapter.ask(ask);
        let found = answer.and_then(|answer| wanted(&answer).ok_or_else(|| adapter.unexpected(&answer)));
        found.map_err(|error| {
            adapter.trouble = Some(format!("failed to {error}"));
            SubjectError(Box::new(error))
        })
    }
}

impl Subject for External<'_> {
    fn calls(&self) -> usize {
        self.calls
    }

    fn before_sample(&mut self) -> Result<(), SubjectError> {
        Ok(())
    }

    fn sample(&mut self) -> Result<Sample, SubjectError> {
        let us = self.ask(&Ask::Measure, |answer| match answer {
            Answer::Sample { us } => Some(*us),
            _ => None,
        })?;
        Ok(Sample::completion(us))
    }
}
