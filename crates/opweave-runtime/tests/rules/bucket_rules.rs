// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Buckets: ranges of one dynamic dimension, and what makes no sense as such.

use opweave_contract::Operator;
use opweave_registry::{Bucket, BucketError, Buckets, MAX_BUCKETS, Prepared, PreparedError};
use opweave_runtime::{Config, Request};
use proptest::prelude::*;

use crate::noop_chain::norm;
use crate::support::operators::*;
use crate::support::world::{NOOP, runtime};

fn buckets(ends: &[usize]) -> Result<Buckets, BucketError> {
    Buckets::new(TestNorm::signature(), "tokens", ends)
}

fn shown(buckets: &Buckets) -> Vec<String> {
    buckets.iter().map(|b| b.to_string()).collect()
}

#[test]
fn ends_are_inclusive_and_a_last_open_bucket_follows() {
    assert_eq!(shown(&buckets(&[8, 64, 512]).unwrap()), ["0..=8", "9..=64", "65..=512", "513.."]);
    assert_eq!(shown(&buckets(&[0]).unwrap()), ["0..=0", "1.."]);
    assert_eq!(shown(&buckets(&[8, usize::MAX]).unwrap()), ["0..=8", "9.."], "the open bucket may be written out");
    assert_eq!(shown(&Buckets::none()), ["all"]);
    assert_eq!(Buckets::none().iter().next(), Some(Bucket::ALL));
}

#[test]
fn buckets_are_read_from_text() {
    let parse = |text: &str| Buckets::parse(TestNorm::signature(), text);
    assert_eq!(parse("tokens<=8,64,inf").unwrap(), buckets(&[8, 64]).unwrap());
    assert_eq!(parse(" tokens <= 8, 64 ").unwrap(), buckets(&[8, 64]).unwrap());
    for text in ["tokens", "tokens<8", "tokens<=", "tokens<=8;64", "tokens<=-1", "tokens<=8,,64", "tokens<=x"] {
        let error = parse(text).unwrap_err();
        assert!(matches!(error, BucketError::Syntax { .. }), "{text}: {error}");
        assert!(error.to_string().contains(&format!("buckets `{text}` are not understood")), "{error}");
    }
}

#[test]
fn ends_ascend_and_are_not_too_many() {
    let most: Vec<usize> = (1..MAX_BUCKETS).collect();
    assert_eq!(buckets(&most).unwrap().iter().count(), MAX_BUCKETS);
    let many: Vec<usize> = (1..=MAX_BUCKETS).collect();
    for ends in [&[8, 8][..], &[64, 8], &[usize::MAX, 8], &many] {
        let error = buckets(ends).unwrap_err();
        assert_eq!(error, BucketError::Ends { ends: ends.to_vec() });
        assert!(error.to_string().contains("expected at most 15 ascending sizes"), "{error}");
    }
}

#[test]
fn a_name_that_is_no_dynamic_dimension_is_refused_with_the_nearest() {
    let error = Buckets::new(TestNorm::signature(), "token", &[8]).unwrap_err();
    assert_eq!(error.to_string(), "test_norm has no dynamic dimension `token`; it has tokens; did you mean `tokens`?");
    assert!(Request::<TestNorm>::new(norm()).buckets("hidden_size", &[8]).is_err(), "a fact is no dimension");
}

proptest! {
    /// The index that a call computes is the bucket that holds its size.
    #[test]
    fn the_index_is_the_bucket_that_holds_the_size(
        mut ends in prop::collection::vec(0_usize..2000, 0..MAX_BUCKETS),
        sizes in prop::collection::vec(0_usize..2100, 1..20),
    ) {
        ends.sort_unstable();
        ends.dedup();
        let buckets = buckets(&ends).unwrap();
        let all: Vec<Bucket> = buckets.iter().collect();
        // The buckets cover every size once.
        prop_assert_eq!((all[0].low, all[all.len() - 1].high), (0, usize::MAX));
        prop_assert!(all.windows(2).all(|w| w[0].high + 1 == w[1].low));
        for size in sizes.into_iter().chain(ends.clone()).chain(ends.iter().map(|e| e + 1)).chain([usize::MAX]) {
            let bucket = all[buckets.index(size)];
            prop_assert!((bucket.low..=bucket.high).contains(&size), "{size} in {bucket}");
        }
    }
}

#[test]
fn as_many_plans_as_buckets_are_needed() {
    let config = Config::new().device(NOOP).request(Request::<TestNorm>::new(norm()));
    let bindings = runtime().initialize(&config).unwrap();
    let prepared = bindings.prepared::<TestNorm>(NOOP, &norm()).unwrap();
    let (key, mode) = (prepared.key().clone(), prepared.mode());
    let error = Prepared::<TestNorm>::new(norm(), NOOP, key, mode, 0, buckets(&[8]).unwrap(), Vec::new()).unwrap_err();
    assert_eq!(error, PreparedError::Count { operation: "test_norm", plans: 0, buckets: 2 });
}
