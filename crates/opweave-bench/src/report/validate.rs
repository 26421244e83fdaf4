// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Numbers that may be judged.
//!
//! JSON can hold anything: an edited baseline, a zero, a count that contradicts its samples. Every comparison downstream
//! relies on what is checked here.

use std::collections::BTreeSet;

use thiserror::Error;

use super::{BenchReport, Row, RowStatus, Series};
use crate::measurement::Measurement;

/// What is wrong with a report, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("accept {place}: {problem}")]
pub struct Invalid {
    /// Row and series.
    pub place: String,
    /// What is wrong, with the offending value and the legal set.
    pub problem: String,
}

/// Checks every row.
///
/// # Errors
/// The first thing that is wrong.
pub fn validate(report: &BenchReport) -> Result<(), Invalid> {
    let mut seen = BTreeSet::new();
    for row in &report.rows {
        let place = format!("row {} {} {}", row.case_id, row.mode, row.implementation.name);
        let fail = |problem: String| Err(Invalid { place: place.clone(), problem });
        if !seen.insert((&row.case_id, row.mode, &row.implementation.name)) {
            return fail("it occurs twice, a row is unique by case, mode and implementation".to_owned());
        }
        let timed = matches!(row.status, RowStatus::Ok | RowStatus::BaselineError);
        if timed == row.series.is_empty() {
            return fail(format!("status {:?} with {} series", row.status, row.series.len()));
        }
        if timed && row.validation != opweave_numerics::Verdict::Passed {
            return fail(format!(
                "it has times but its verdict is `{}`, only `passed` may be timed",
                row.validation.name()
            ));
        }
        check_row(row, &place)?;
    }
    Ok(())
}

fn check_row(row: &Row, place: &str) -> Result<(), Invalid> {
    let mut kinds = BTreeSet::new();
    for series in &row.series {
        let place = format!("{place}, {}", series.measurement.kind());
        check_series(series).map_err(|problem| Invalid { place: place.clone(), problem })?;
        if !kinds.insert(series.measurement.kind()) {
            return Err(Invalid { place, problem: "the series occurs twice".to_owned() });
        }
    }
    for against in &row.against {
        positive("against.ratio", against.ratio)
            .map_err(|problem| Invalid { place: format!("{place}, against {}", against.implementation), problem })?;
    }
    Ok(())
}

fn check_series(series: &Series) -> Result<(), String> {
    let m = &series.measurement;
    positive("impl_us", m.impl_us)?;
    positive("summary.median_us", m.summary.median_us)?;
    for (name, value) in
        [("gb_per_s", series.gb_per_s), ("gflop_per_s", series.gflop_per_s), ("share", series.share_of_ceiling)]
    {
        if let Some(value) = value.filter(|v| !(v.is_finite() && *v >= 0.0)) {
            return Err(format!("{name} is {value}, it must be finite and not negative"));
        }
    }
    // The statistics are a function of the samples, so an edited number stands out.
    let samples = m.samples.rounds_us().map_err(|e| e.to_string())?;
    let again = Measurement::new(m.kind(), samples, m.no_verdict.clone()).map_err(|e| e.to_string())?;
    let close = |name: &str, stored: f64, computed: f64| {
        if (stored - computed).abs() <= 1e-6 * computed.abs() {
            Ok(())
        } else {
            Err(format!("{name} is {stored}, its samples give {computed}"))
        }
    };
    close("impl_us", m.impl_us, again.impl_us)?;
    close("summary.median_us", m.summary.median_us, again.summary.median_us)?;
    if m.summary.n != again.summary.n || m.round_us.len() != again.round_us.len() {
        return Err(format!(
            "{} samples and {} rounds are stated, there are {} and {}",
            m.summary.n,
            m.round_us.len(),
            again.summary.n,
            again.round_us.len()
        ));
    }
    for (stored, computed) in m.round_us.iter().zip(&again.round_us) {
        close("round_us", *stored, *computed)?;
    }
    match (m.summary.median_interval_us, again.summary.median_interval_us) {
        (Some(stored), Some(computed)) => {
            close("median_interval_us.low_us", stored.low_us, computed.low_us)?;
            close("median_interval_us.high_us", stored.high_us, computed.high_us)
        }
        (None, None) => Ok(()),
        (stored, computed) => Err(format!("median_interval_us is {stored:?}, its samples give {computed:?}")),
    }
}

fn positive(name: &str, value: f64) -> Result<(), String> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(format!("{name} is {value}, a time must be finite and above 0"))
    }
}
