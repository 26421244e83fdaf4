// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! From the report of a row's process to the row.

use std::collections::BTreeMap;

use opweave_bench::measurement::{Cache, Metric};
use opweave_bench::report::{BenchReport, Row as BenchRow, RowStatus, Series};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Impl, Row, Status};
use crate::workload::Entry;

/// Where a reference comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The reference.
    pub name: String,
    /// Its libraries and versions, or the revision that registered it.
    pub text: String,
}

/// Fills a row in from what its process reported; its process was not told of references that are `absent`, for the reason that
/// stands there.
pub fn fill(row: &mut Row, entry: &Entry, report: &BenchReport, absent: &BTreeMap<String, String>) {
    row.revision.clone_from(&report.environment.revision);
    row.dirty = report.environment.dirty;
    row.build.clone_from(&report.environment.build);
    row.images.clone_from(&report.environment.images);
    row.started_unix_s = report.started_unix_s;
    row.protocol = Some(report.protocol.clone());
    row.multiply_add_gflop_per_s = report.ceilings.as_ref().and_then(|ceilings| ceilings.multiply_add_gflop_per_s);
    let of_case = |r: &&BenchRow| r.operation == entry.kernel && r.label == entry.label;
    let Some(ours) = report.rows.iter().filter(of_case).find(|r| !r.reference) else {
        (row.status, row.reason) = (Status::Fail, Some("its process reported no row of this case".to_owned()));
        return;
    };
    row.implementation = Some(ours.implementation.name.clone()).filter(|name| !name.is_empty());
    row.problem.clone_from(&ours.problem);
    row.grade = Some(ours.grade.name().to_owned());
    row.work = ours.work;
    row.order.clone_from(&ours.order);
    row.marks.extend(ours.notes.iter().cloned());
    row.reason.clone_from(&ours.reason);
    row.status = match ours.status {
        RowStatus::Ok | RowStatus::BaselineError => Status::Ok,
        RowStatus::Fail => Status::Fail,
        RowStatus::Skip => Status::Skip,
        RowStatus::TimedOut => Status::TimedOut,
        RowStatus::Cancelled => Status::Cancelled,
    };
    if row.status != Status::Ok {
        return;
    }
    row.reason = None;
    let Some(series) = wanted(ours, entry.cache) else {
        (row.status, row.reason) = (Status::Fail, Some(format!("there is no {} series of ours", entry.cache)));
        return;
    };
    row.series = Some(series.measurement.kind().to_string());
    let timed_rows = report.rows.iter().filter(of_case).filter_map(|r| wanted(r, entry.cache));
    row.sampling_s = Some(timed_rows.map(|series| series.sampling_s).sum());
    row.cache_method = Some(series.cache_method.clone());
    row.no_verdict.clone_from(&series.measurement.no_verdict);
    if series.measurement.summary.max_us == 0.0 || series.measurement.impl_us <= 0.0 {
        (row.status, row.reason) =
            (Status::Fail, Some("the clock is too coarse for this case: its time is 0".to_owned()));
        return;
    }
    row.impls.push(timed(ours, series, true));
    let others: Vec<&BenchRow> = report.rows.iter().filter(of_case).filter(|r| r.reference).collect();
    let mut missing = Vec::new();
    for name in entry.references.iter().chain(&entry.optional_references) {
        let optional = entry.optional_references.contains(name);
        let found = others.iter().find(|r| bears(r, name));
        let why = match found {
            Some(other) => match (other.status, wanted(other, entry.cache)) {
                (RowStatus::Ok, Some(series)) if series.measurement.impl_us > 0.0 => {
                    row.impls.push(timed(other, series, false));
                    row.provenance.push(provenance(other, report));
                    continue;
                }
                _ => other.reason.clone().unwrap_or_else(|| "it has no times".to_owned()),
            },
            None => absent.get(name).cloned().unwrap_or_else(|| "its process reported nothing of it".to_owned()),
        };
        let refused = found.is_some_and(|other| other.status == RowStatus::Skip);
        match (refused, optional) {
            // What a library does not have is no failure of the row.
            (true, _) => row.marks.push(format!("reference {name} does not do this: {why}")),
            (false, true) => row.marks.push(format!("no reference {name}: {why}")),
            (false, false) => missing.push(format!("reference {name}: {why}")),
        }
    }
    if !missing.is_empty() {
        (row.status, row.reason) = (Status::BaselineError, Some(missing.join("; ")));
    }
    let ratio = row.ours().zip(row.fastest_reference()).map(|(ours, reference)| {
        let rounds = reference.round_us.iter().zip(&ours.round_us).filter(|(_, ours)| **ours > 0.0);
        (reference.us / ours.us, rounds.map(|(reference, ours)| reference / ours).collect::<Vec<f64>>())
    });
    if let Some((ratio, rounds)) = ratio {
        (row.ratio, row.ratio_rounds) = (Some(ratio), rounds);
    }
}

/// An adapter bears its program's stem in front of what it calls itself; a registered implementation is its name, or the
/// solution of it.
fn bears(row: &BenchRow, name: &str) -> bool {
    let implementation = &row.implementation;
    let plain = |text: &str| text.replace(['.', '-', '_'], "");
    implementation.name == name
        || implementation.name.starts_with(&format!("{name}."))
        || plain(&implementation.name) == plain(name)
}

fn wanted(row: &BenchRow, cache: Cache) -> Option<&Series> {
    let right = |series: &&Series| series.measurement.cache == cache && series.measurement.metric == Metric::Completion;
    row.series.iter().find(right)
}

fn timed(row: &BenchRow, series: &Series, ours: bool) -> Impl {
    let m = &series.measurement;
    Impl {
        name: row.implementation.name.clone(),
        ours,
        us: m.impl_us,
        round_us: m.round_us.clone(),
        interval_us: m.interval(),
        n: m.summary.n,
        gb_per_s: series.gb_per_s,
        gflop_per_s: series.gflop_per_s,
        ceiling_gb_per_s: series.ceiling_gb_per_s,
        cache_resident: series.cache_resident,
        raw: Some(m.samples.clone()),
    }
}

fn provenance(row: &BenchRow, report: &BenchReport) -> Provenance {
    let name = row.implementation.name.clone();
    let said = row.notes.iter().find_map(|note| note.strip_prefix(&format!("{name}: ")));
    let text = said.map_or_else(
        || format!("opweave {}", report.environment.revision.as_deref().unwrap_or("of an unknown revision")),
        str::to_owned,
    );
    Provenance { name, text }
}
