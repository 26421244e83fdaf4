// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What is said to an external adapter and what it answers: one JSON object on a line, in turns.

use std::collections::BTreeMap;
use std::path::Path;

use opweave_numerics::harness::Described;
use serde::{Deserialize, Serialize};

use crate::measurement::{Cache, Timer};

/// The version of the dialogue. An adapter that speaks another is refused.
pub(super) const VERSION: u32 = 1;

/// A request.
#[derive(Debug, Serialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(super) enum Ask<'a> {
    /// Compute the case once and leave its outputs in a file; keep it for the requests that follow.
    Prepare {
        /// `cpu`, `cuda:0`.
        device: &'a str,
        operation: &'a str,
        label: &'a str,
        /// Facts of the problem and dimensions of the call, by name.
        problem: &'a BTreeMap<String, String>,
        scalars: &'a BTreeMap<&'static str, f64>,
        inputs: &'a [Described],
        inputs_file: &'a Path,
        outputs: &'a [Described],
        outputs_file: &'a Path,
    },
    /// Arrange the samples that follow.
    Series(Arranged),
    /// Take one sample.
    Measure,
    /// End.
    Quit,
}

/// How samples are taken: the same for every implementation of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(in crate::run) struct Arranged {
    /// `graph`: a replay between two events. `event`: one call between two events. `wall`: one call by the host's clock.
    pub(in crate::run) timer: Timer,
    /// The cache state.
    pub(in crate::run) cache: Cache,
    /// Calls in a sample.
    pub(in crate::run) calls: usize,
    /// Sets of arguments that they go through.
    pub(in crate::run) sets: usize,
    /// Graphs, or without a graph sets of arguments, that take turns.
    pub(in crate::run) turns: usize,
    /// Bytes that are read each time the turns come around, outside the interval; 0 for none.
    pub(in crate::run) flush_bytes: u64,
}

/// An answer.
#[derive(Debug, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Answer {
    /// The first line of an adapter.
    Hello {
        /// [`VERSION`].
        dialogue: u32,
        /// The implementation's name, as it stands in reports.
        name: String,
        /// What produced it: libraries with their versions.
        provenance: String,
    },
    /// To [`Ask::Prepare`]: the outputs are there.
    Prepared {
        /// What a reader must know about this case.
        #[serde(default)]
        notes: Vec<String>,
    },
    /// To [`Ask::Prepare`]: the library has no such operator, or not in this form.
    Refused { reason: String },
    /// To any request: it went wrong.
    Failed { reason: String },
    /// To [`Ask::Series`].
    Ready,
    /// To [`Ask::Measure`].
    Sample {
        /// Microseconds per call.
        us: f64,
    },
}
