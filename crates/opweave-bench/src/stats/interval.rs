// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The bootstrap interval of the median, without drawing a resample.
//!
//! A bootstrap draws n of the n samples with replacement, takes the median, repeats, and reads the 2.5 % and 97.5 %
//! quantiles of those medians. For the median the limit of infinitely many repeats has a closed form: the k-th smallest
//! of n draws is at or below the j-th sorted sample exactly when at least k draws fell on the first j samples, which has
//! the probability `P(Bin(n, j/n) >= k)`. So the interval costs two binary searches instead of thousands of resamples
//! of up to half a million values, and is the same on every machine because no random number is involved
//! (B. Efron, "Bootstrap methods: another look at the jackknife", 1979, treats the median by the same identity).

use super::quantile::median_of_sorted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A closed range, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// Lower end.
    pub low_us: f64,
    /// Upper end.
    pub high_us: f64,
}

impl Interval {
    /// The smallest interval that holds both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self { low_us: self.low_us.min(other.low_us), high_us: self.high_us.max(other.high_us) }
    }

    /// Whether the value lies inside or on an end.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        self.low_us <= value && value <= self.high_us
    }
}

/// Probability left outside on each side.
const TAIL: f64 = 0.025;

/// 95 % interval of the median of sorted samples, n >= 2.
///
/// An even n has two middle draws; the lower one gives the lower end and the upper one the upper end, which widens the
/// interval by at most one neighbour.
pub(super) fn median_interval(sorted: &[f64]) -> Interval {
    let n = sorted.len();
    let low = rank_of_quantile(n, n.div_ceil(2), TAIL);
    let high = rank_of_quantile(n, n / 2 + 1, 1.0 - TAIL);
    Interval { low_us: sorted[low - 1], high_us: sorted[high - 1] }
}

/// The median with its 99 % interval by the sign test: of n values the k-th smallest and the k-th largest, with the largest k of which
/// fewer than k of n fair coins fall heads with a probability of half a percent at most. None for fewer than eight values. It
/// assumes nothing of their distribution (e.g. W. J. Conover, "Practical Nonparametric Statistics", 3.2).
#[must_use]
pub fn median_within(values: &[f64]) -> Option<(f64, f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    // P(Bin(n, 1/2) < k) = 1 - P(Bin(n, 1/2) >= k), and the same on the other side.
    let k = (1..=n / 2).take_while(|&k| 1.0 - at_least(n, k, 0.5) <= 0.005).last()?;
    Some((sorted[k - 1], median_of_sorted(&sorted), sorted[n - k]))
}

/// Smallest j in `1..=n` with `P(Bin(n, j/n) >= k) >= q`: the q-quantile of the k-th smallest of n draws.
fn rank_of_quantile(n: usize, k: usize, q: f64) -> usize {
    let (mut low, mut high) = (1, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if at_least(n, k, middle as f64 / n as f64) >= q { high = middle } else { low = middle + 1 }
    }
    low
}

/// `P(Bin(n, p) >= k)` for `1 <= k <= n`.
///
/// The tail beyond k is summed term by term from its largest end, each term from its neighbour, on whichever side of the
/// mean k lies; about ten standard deviations of terms matter, which is 3500 for half a million samples.
fn at_least(n: usize, k: usize, p: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return 1.0;
    }
    let (n_f, odds) = (n as f64, p / (1.0 - p));
    let upper = k as f64 > n_f * p;
    // P(>= k) directly, or as one minus P(<= k - 1).
    let mut j = if upper { k as f64 } else { (k - 1) as f64 };
    let ln_choose = ln_gamma(n_f + 1.0) - ln_gamma(j + 1.0) - ln_gamma(n_f - j + 1.0);
    let mut term = (ln_choose + j * p.ln() + (n_f - j) * (1.0 - p).ln()).exp();
    let mut tail = 0.0;
    while term > tail * 1e-15 {
        tail += term;
        if upper {
            term *= (n_f - j) / (j + 1.0) * odds;
            j += 1.0;
        } else {
            term *= j / (n_f - j + 1.0) / odds;
            j -= 1.0;
        }
    }
    if upper { tail } else { 1.0 - tail }
}

/// Stirling's series (NIST DLMF 5.11.1) after shifting the argument to at least 10, where four terms give 1e-13.
fn ln_gamma(x: f64) -> f64 {
    let mut shift = 0.0;
    let mut z = x;
    while z < 10.0 {
        shift += z.ln();
        z += 1.0;
    }
    let r = 1.0 / (z * z);
    let series = (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r / 1680.0))) / z;
    (z - 0.5) * z.ln() - z + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sign_test_leaves_half_a_percent_on_each_side() {
        let ranks = |n: usize| {
            let values: Vec<f64> = (1..=n).map(|i| i as f64).collect();
            median_within(&values)
        };
        assert_eq!((ranks(0), ranks(1), ranks(7)), (None, None, None));
        // Tables of the binomial distribution: n = 8, 0.0039; n = 20, P(< 4) = 0.0013, P(< 5) = 0.0059.
        assert_eq!(ranks(8), Some((1.0, 4.5, 8.0)));
        assert_eq!(ranks(20), Some((4.0, 10.5, 17.0)));
        assert_eq!(ranks(80).map(|(low, _, high)| (low, high)), Some((29.0, 52.0)));
    }

    /// The probability by adding binomial terms, which is exact enough for small n.
    fn at_least_by_sum(n: usize, k: usize, p: f64) -> f64 {
        let choose = |j: usize| (0..j).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>();
        (k..=n).map(|j| choose(j) * p.powi(j as i32) * (1.0 - p).powi((n - j) as i32)).sum()
    }

    #[test]
    fn the_tail_agrees_with_sums_of_products() {
        for n in [1_usize, 2, 3, 5, 10, 37, 100] {
            for k in [1, n.div_ceil(2), n / 2 + 1, n] {
                if k > n {
                    continue;
                }
                for j in 0..=n {
                    let p = j as f64 / n as f64;
                    let (got, want) = (at_least(n, k, p), at_least_by_sum(n, k, p));
                    assert!((got - want).abs() < 1e-9, "n {n} k {k} p {p}: {got} against {want}");
                }
            }
        }
    }

    #[test]
    fn the_closed_form_agrees_with_resampling() {
        // Distinct values, so that an interval's end tells its rank.
        let sorted: Vec<f64> = (0..101).map(f64::from).collect();
        let mut state = 7_u64;
        let mut medians: Vec<f64> = (0..4000)
            .map(|_| {
                let mut draw: Vec<f64> = (0..sorted.len())
                    .map(|_| {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        sorted[((state >> 33) % 101) as usize]
                    })
                    .collect();
                draw.sort_by(f64::total_cmp);
                draw[50]
            })
            .collect();
        medians.sort_by(f64::total_cmp);
        let got = median_interval(&sorted);
        assert!((got.low_us - medians[100]).abs() <= 1.0, "{got:?} against {}", medians[100]);
        assert!((got.high_us - medians[3899]).abs() <= 1.0, "{got:?} against {}", medians[3899]);
    }

    #[test]
    fn half_a_million_samples_are_quick_and_tight() {
        let sorted: Vec<f64> = (0..500_000).map(f64::from).collect();
        let got = median_interval(&sorted);
        // 1.96 * sqrt(n) / 2 = 693 ranks to each side of the middle.
        assert!((got.low_us - (250_000.0 - 693.0)).abs() < 3.0, "{got:?}");
        assert!((got.high_us - (250_000.0 + 693.0)).abs() < 3.0, "{got:?}");
    }
}
