// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What makes two runs incomparable.
//!
//! Metadata that is stored and never looked at is the usual fault. Everything that changes a time by itself is looked at
//! here, and all differences are listed at once, so that nobody edits files one field at a time.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;

use crate::report::{BenchReport, Row};

/// One field that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// The field.
    pub field: String,
    /// Its value in A.
    pub base: String,
    /// Which run differs: `B` or `A2`.
    pub run: String,
    /// Its value there.
    pub other: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: A has `{}`, {} has `{}`", self.field, self.base, self.run, self.other)
    }
}

/// The runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("compare the runs, they differ in {}", list(.differences))]
pub struct Refusal {
    /// Every difference.
    pub differences: Vec<Difference>,
}

fn list(differences: &[Difference]) -> String {
    let fields = differences.iter().map(|d| format!("\n  {d}")).collect::<String>();
    let n = differences.len();
    format!("{n} field{}:{fields}", if n == 1 { "" } else { "s" })
}

/// All differences of `other` from `a`, in the order schema, device, protocol, rows.
pub(super) fn differences(a: &BenchReport, other: &BenchReport, run: &str) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut field = |name: &str, base: String, value: String| {
        if base != value {
            found.push(Difference { field: name.to_owned(), base, run: run.to_owned(), other: value });
        }
    };
    field("schema_version", a.schema_version.to_string(), other.schema_version.to_string());
    let (d, e) = (&a.environment.device, &other.environment.device);
    field("device.name", d.name.clone(), e.name.clone());
    field("device.key", d.key.clone(), e.key.clone());
    field("device.driver", text(&d.driver), text(&e.driver));
    field("device.runtime", text(&d.runtime), text(&e.runtime));
    field("device.clocks", d.clocks.clone(), e.clocks.clone());
    field("device.threads", text(&d.threads), text(&e.threads));
    field("caches", format!("{:?}", a.caches), format!("{:?}", other.caches));
    field("environment.build", a.environment.build.clone(), other.environment.build.clone());
    let (p, q) = (&a.protocol, &other.protocol);
    field("protocol.warmup_ms", p.warmup_ms.to_string(), q.warmup_ms.to_string());
    field("protocol.repeat_ms", p.repeat_ms.to_string(), q.repeat_ms.to_string());
    field("protocol.iterations", text(&p.iterations), text(&q.iterations));
    field("protocol.rounds", p.rounds.to_string(), q.rounds.to_string());
    field("protocol.cooldown_s", p.cooldown_s.to_string(), q.cooldown_s.to_string());
    field("protocol.turns", p.turns.to_string(), q.turns.to_string());
    field("protocol.limit_ms", p.limit_ms.to_string(), q.limit_ms.to_string());
    field("protocol.patience", p.patience.to_string(), q.patience.to_string());
    field("protocol.graph_calls", p.graph_calls.to_string(), q.graph_calls.to_string());
    field("protocol.min_samples", p.min_samples.to_string(), q.min_samples.to_string());
    field("protocol.max_samples", p.max_samples.to_string(), q.max_samples.to_string());
    let ranks = |report: &BenchReport| {
        report.distributed.as_ref().map_or_else(
            || "none".to_owned(),
            |d| d.rank.map_or_else(|| format!("all of {}", d.size), |rank| format!("{rank} of {}", d.size)),
        )
    };
    field("distributed.ranks", ranks(a), ranks(other));
    field("generator", a.generator.clone(), other.generator.clone());
    for base in &a.rows {
        if let Some(row) = super::matching::find(other, base) {
            row_differences(base, row, &mut field);
        }
    }
    found
}

fn row_differences(base: &Row, other: &Row, field: &mut dyn FnMut(&str, String, String)) {
    let at = |name: &str| format!("{} {}: {name}", base.case_id, base.mode);
    let problem = |row: &Row| row.problem.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ");
    field(&at("problem"), problem(base), problem(other));
    field(&at("grade"), base.grade.name().to_owned(), other.grade.name().to_owned());
    // A row without times has neither timer nor scope; that is a change of status, not of kind.
    if base.series.is_empty() || other.series.is_empty() {
        return;
    }
    let kinds = |row: &Row, of: fn(&crate::measurement::Measurement) -> &'static str| {
        let mut names: Vec<_> = row.series.iter().map(|s| of(&s.measurement)).collect();
        names.sort_unstable();
        names.dedup();
        names.join(" ")
    };
    field(&at("timer"), kinds(base, |m| m.timer.name()), kinds(other, |m| m.timer.name()));
    field(&at("scope"), kinds(base, |m| m.scope.name()), kinds(other, |m| m.scope.name()));
    let methods = |row: &Row| {
        let mut methods: Vec<_> =
            row.series.iter().map(|s| format!("{} by {}", s.measurement.cache, s.cache_method)).collect();
        methods.sort_unstable();
        methods.dedup();
        methods.join(", ")
    };
    field(&at("cache"), methods(base), methods(other));
    field(&at("calls_per_sample"), calls(base), calls(other));
}

fn calls(row: &Row) -> String {
    let mut calls: Vec<_> = row.series.iter().map(|s| s.calls_per_sample).collect();
    calls.sort_unstable();
    calls.dedup();
    format!("{calls:?}")
}

fn text<T: fmt::Display>(value: &Option<T>) -> String {
    value.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
}
