// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Quantiles of sorted, non-empty, finite samples.

/// Linear interpolation between the two neighbours of rank `q * (n - 1)`.
pub(super) fn quantile_of_sorted(sorted: &[f64], q: f64) -> f64 {
    let rank = q * (sorted.len() - 1) as f64;
    let low = rank.floor() as usize;
    let high = rank.ceil() as usize;
    let share = rank - low as f64;
    sorted[low] + (sorted[high] - sorted[low]) * share
}

/// Middle value, or the mean of the two middle values.
pub(super) fn median_of_sorted(sorted: &[f64]) -> f64 {
    quantile_of_sorted(sorted, 0.5)
}
