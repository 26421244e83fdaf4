// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use proptest::prelude::*;

use super::*;

#[test]
fn no_sample_is_an_error() {
    assert_eq!(Summary::of(&[]), Err(StatsError::Empty));
}

#[test]
fn one_sample_has_an_unknown_spread() {
    let s = Summary::of(&[7.0]).unwrap();
    assert_eq!((s.n, s.median_us, s.mean_us, s.min_us, s.p10_us, s.p90_us), (1, 7.0, 7.0, 7.0, 7.0, 7.0));
    assert_eq!((s.mad_us, s.iqr_us, s.median_interval_us), (None, None, None));
    assert!(serde_json::to_string(&s).unwrap().contains("\"mad_us\":null"));
}

#[test]
fn two_samples_have_the_interval_between_them() {
    let s = Summary::of(&[4.0, 2.0]).unwrap();
    assert_eq!((s.median_us, s.mad_us), (3.0, Some(1.0)));
    assert_eq!(s.median_interval_us, Some(Interval { low_us: 2.0, high_us: 4.0 }));
}

#[test]
fn an_outlier_moves_the_mean_and_nothing_else() {
    let mut samples = vec![10.0; 999];
    samples.push(5000.0);
    let s = Summary::of(&samples).unwrap();
    assert_eq!((s.median_us, s.p90_us, s.mad_us, s.iqr_us), (10.0, 10.0, Some(0.0), Some(0.0)));
    assert!(s.mean_us > 14.9 && s.max_us == 5000.0);
}

#[test]
fn two_modes_are_visible() {
    let samples: Vec<f64> = (0..1000).map(|i| if i % 2 == 0 { 10.0 } else { 14.0 }).collect();
    let s = Summary::of(&samples).unwrap();
    assert_eq!((s.median_us, s.iqr_us, s.p10_us, s.p90_us), (12.0, Some(4.0), 10.0, 14.0));
}

#[test]
fn a_sample_that_is_no_time_is_named() {
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        let error = Summary::of(&[1.0, bad]).unwrap_err();
        assert!(matches!(error, StatsError::BadSample { index: 1, .. }), "{error}");
    }
}

proptest! {
    #[test]
    fn a_summary_is_finite_and_ordered(samples in prop::collection::vec(0.0..1e300_f64, 1..200)) {
        let s = Summary::of(&samples).unwrap();
        prop_assert_eq!(s.n, samples.len());
        for v in [s.median_us, s.mean_us, s.min_us, s.max_us, s.p10_us, s.p90_us] {
            prop_assert!(v.is_finite());
        }
        prop_assert!(s.min_us <= s.p10_us && s.p10_us <= s.median_us);
        prop_assert!(s.median_us <= s.p90_us && s.p90_us <= s.max_us);
        if let Some(interval) = s.median_interval_us {
            prop_assert!(interval.contains(s.median_us));
            prop_assert!(s.min_us <= interval.low_us && interval.high_us <= s.max_us);
        }
    }

    #[test]
    fn the_order_of_samples_does_not_matter(mut samples in prop::collection::vec(0.0..1e6_f64, 2..50)) {
        let forward = Summary::of(&samples).unwrap();
        samples.reverse();
        prop_assert_eq!(forward, Summary::of(&samples).unwrap());
    }
}

#[test]
fn the_mean_of_the_middle_half_is_deaf_to_outliers_and_finer_than_a_tick() {
    assert_eq!(interquartile_mean(&[7.0]).unwrap(), 7.0);
    assert_eq!(interquartile_mean(&[1e6, 1.0, 3.0, 5.0]).unwrap(), 4.0);
    assert_eq!(interquartile_mean(&[0.0, 1e9, 2.0, 4.0, 3.0, 1.0, 5.0, 1e9]).unwrap(), 3.5);
    assert!(interquartile_mean(&[]).is_err() && interquartile_mean(&[1.0, f64::NAN]).is_err());
    // A tick of 32 ns in calls of 1.62 and 1.625 us: medians are a tick apart or none, the truth is 5 ns.
    let ticked = |us: f64| -> Vec<f64> {
        let jitter = |i: usize| (i * 37 % 100) as f64 * 1e-3 - 0.05;
        (0..100).map(|i| ((us + jitter(i)) / 0.032).round() * 0.032).collect()
    };
    let (a, b) = (ticked(1.62), ticked(1.625));
    let apart = interquartile_mean(&b).unwrap() - interquartile_mean(&a).unwrap();
    assert!((apart - 0.005).abs() < 0.003, "{apart}");
    let medians = median(&b).unwrap() - median(&a).unwrap();
    assert!(medians == 0.0 || medians > 0.03, "{medians}");
}
