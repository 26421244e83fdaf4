// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Numbers that may be judged.

use std::collections::BTreeSet;

use thiserror::Error;

use super::{Impl, Row, Status};

/// What is wrong with a row, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("accept {place}: {problem}")]
pub struct Invalid {
    /// The row.
    pub place: String,
    /// What is wrong, with the offending value and the legal set.
    pub problem: String,
}

/// Checks every row, and that none occurs twice.
///
/// # Errors
/// The first thing that is wrong.
pub fn validate_rows(rows: &[Row]) -> Result<(), Invalid> {
    let mut seen = BTreeSet::new();
    for row in rows {
        if !seen.insert((&row.kernel, &row.label)) {
            return Err(Invalid { place: row.planned().to_string(), problem: "the row occurs twice".to_owned() });
        }
        validate_row(row)?;
    }
    Ok(())
}

/// Checks one row.
///
/// # Errors
/// The first thing that is wrong.
pub fn validate_row(row: &Row) -> Result<(), Invalid> {
    check(row).map_err(|problem| Invalid { place: row.planned().to_string(), problem })
}

fn check(row: &Row) -> Result<(), String> {
    let ours = row.impls.iter().filter(|one| one.ours).count();
    match row.status {
        Status::Ok | Status::BaselineError if ours != 1 => {
            return Err(format!("status `{}` with {ours} times of ours", row.status));
        }
        Status::Ok | Status::BaselineError if row.series.is_none() => {
            return Err("its times do not say what they are times of".to_owned());
        }
        _ => {}
    }
    if !row.status.is_acceptable() && row.reason.as_ref().is_none_or(String::is_empty) {
        return Err(format!("status `{}` without a reason", row.status));
    }
    for one in &row.impls {
        check_impl(one).map_err(|problem| format!("{}: {problem}", one.name))?;
    }
    let again = row.ours().zip(row.fastest_reference()).map(|(ours, reference)| reference.us / ours.us);
    match (row.ratio, again) {
        (None, None) => {}
        (Some(stated), Some(again)) if close(stated, again) => {}
        (stated, again) => return Err(format!("ratio is {stated:?}, its times give {again:?}")),
    }
    for ratio in &row.ratio_rounds {
        positive("ratio_rounds", *ratio)?;
    }
    Ok(())
}

fn check_impl(one: &Impl) -> Result<(), String> {
    positive("us", one.us)?;
    if one.round_us.is_empty() {
        return Err("round_us is empty".to_owned());
    }
    for us in &one.round_us {
        positive("round_us", *us)?;
    }
    // The value is a function of its rounds, so an edited number stands out.
    let mean = one.round_us.iter().sum::<f64>() / one.round_us.len() as f64;
    if !close(one.us, mean) {
        return Err(format!("us is {}, its rounds give {mean}", one.us));
    }
    if let Some(interval) = one.interval_us {
        positive("interval_us.low_us", interval.low_us)?;
        positive("interval_us.high_us", interval.high_us)?;
        if interval.low_us > interval.high_us {
            return Err(format!("interval_us is {} to {}", interval.low_us, interval.high_us));
        }
    }
    for (name, value) in
        [("gb_per_s", one.gb_per_s), ("gflop_per_s", one.gflop_per_s), ("ceiling_gb_per_s", one.ceiling_gb_per_s)]
    {
        if let Some(value) = value.filter(|v| !(v.is_finite() && *v >= 0.0)) {
            return Err(format!("{name} is {value}, it must be finite and not negative"));
        }
    }
    Ok(())
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs()
}

fn positive(name: &str, value: f64) -> Result<(), String> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(format!("{name} is {value}, it must be finite and above 0"))
    }
}
