// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Robust statistics over the samples of one measurement.
//!
//! A timing distribution is skewed and often has two modes, so the median leads and its interval decides; the mean is
//! reported and never judged by. Every function is total: no sample is an error, one sample has an unknown spread, and
//! nothing here can produce NaN or an infinity.

mod interval;
mod quantile;
mod trend;

pub use interval::{Interval, median_within};
pub use trend::{Trend, trend};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use quantile::{median_of_sorted, quantile_of_sorted};

/// Why samples have no summary.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum StatsError {
    /// There is nothing to summarise.
    #[error("summarise 0 samples: at least 1 is needed")]
    Empty,
    /// A sample is not a time.
    #[error("summarise sample {index} = {value}: samples are finite and not negative")]
    BadSample {
        /// Position in the order of measuring.
        index: usize,
        /// The offending value.
        value: f64,
    },
}

/// The summary of one series of samples, in microseconds.
///
/// Fields that need two samples are `None` for one: an unknown spread is said, not invented.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Number of samples; none is ever dropped.
    pub n: usize,
    /// Middle sample (mean of the two middle ones for an even number).
    pub median_us: f64,
    /// Arithmetic mean, which one outlier can move far from what a call takes.
    pub mean_us: f64,
    /// Smallest sample.
    pub min_us: f64,
    /// Largest sample.
    pub max_us: f64,
    /// 10th percentile, interpolated between neighbours.
    pub p10_us: f64,
    /// 90th percentile, interpolated between neighbours.
    pub p90_us: f64,
    /// Distance between the quartiles.
    pub iqr_us: Option<f64>,
    /// Median absolute deviation from the median, unscaled.
    pub mad_us: Option<f64>,
    /// 95 % bootstrap interval of the median.
    pub median_interval_us: Option<Interval>,
}

impl Summary {
    /// Summarises samples in any order.
    ///
    /// # Errors
    /// No sample, or a sample that is negative, NaN or infinite.
    pub fn of(samples_us: &[f64]) -> Result<Self, StatsError> {
        let sorted = sorted(samples_us)?;
        let n = sorted.len();
        let median = median_of_sorted(&sorted);
        let mut deviations: Vec<f64> = sorted.iter().map(|s| (s - median).abs()).collect();
        deviations.sort_by(f64::total_cmp);
        // Summing shares instead of dividing the sum keeps the mean finite whatever the samples are.
        let mean = sorted.iter().map(|s| s / n as f64).sum();
        let spread = n > 1;
        Ok(Self {
            n,
            median_us: median,
            mean_us: mean,
            min_us: sorted[0],
            max_us: sorted[n - 1],
            p10_us: quantile_of_sorted(&sorted, 0.10),
            p90_us: quantile_of_sorted(&sorted, 0.90),
            iqr_us: spread.then(|| quantile_of_sorted(&sorted, 0.75) - quantile_of_sorted(&sorted, 0.25)),
            mad_us: spread.then(|| median_of_sorted(&deviations)),
            median_interval_us: spread.then(|| interval::median_interval(&sorted)),
        })
    }
}

/// The median alone.
///
/// # Errors
/// As [`Summary::of`].
pub fn median(samples_us: &[f64]) -> Result<f64, StatsError> {
    Ok(median_of_sorted(&sorted(samples_us)?))
}

/// The mean of the middle half: as deaf to outliers as need be, and finer than the step of a clock that ticks a few dozen times in a
/// sample, where a median jumps by a whole tick.
///
/// # Errors
/// As [`Summary::of`].
pub fn interquartile_mean(samples_us: &[f64]) -> Result<f64, StatsError> {
    let sorted = sorted(samples_us)?;
    let cut = sorted.len() / 4;
    let middle = &sorted[cut..sorted.len() - cut];
    Ok(middle.iter().sum::<f64>() / middle.len() as f64)
}

fn sorted(samples: &[f64]) -> Result<Vec<f64>, StatsError> {
    if samples.is_empty() {
        return Err(StatsError::Empty);
    }
    // Written in positive form, so that NaN is refused with the rest.
    if let Some((index, value)) = samples.iter().copied().enumerate().find(|&(_, s)| !(s >= 0.0 && s.is_finite())) {
        return Err(StatsError::BadSample { index, value });
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    Ok(sorted)
}

#[cfg(test)]
mod tests;
