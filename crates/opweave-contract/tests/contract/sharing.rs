// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Whether two views share a byte, against a set of bytes.

use std::collections::BTreeSet;

use opweave_contract::may_share;
use opweave_tensor::{DType, DeviceId, RawTensor};
use proptest::prelude::*;

/// Every byte that a view touches.
fn bytes(view: &RawTensor) -> BTreeSet<i64> {
    let bits = view.dtype().bits() as i64;
    let mut offsets = vec![0_i64];
    for (&size, &stride) in view.shape().iter().zip(view.strides()) {
        offsets = offsets.iter().flat_map(|o| (0..size as i64).map(move |i| o + i * stride as i64)).collect();
    }
    let base = view.data() as i64;
    let touched = |o: i64| (o * bits).div_euclid(8)..((o + 1) * bits + 7).div_euclid(8);
    offsets.into_iter().flat_map(|o| touched(o).map(move |b| base + b)).collect()
}

fn view(dtype: DType, at: usize, dims: &[(usize, isize)]) -> RawTensor {
    let (shape, strides): (Vec<usize>, Vec<isize>) = dims.iter().copied().unzip();
    let data = std::ptr::without_provenance_mut((1 << 20) + at);
    RawTensor::strided(data, dtype, DeviceId::CPU, &shape, &strides).unwrap()
}

fn any_view() -> impl Strategy<Value = RawTensor> {
    let dtype = prop::sample::select(&[DType::U8, DType::BF16, DType::F32, DType::U4][..]);
    (dtype, 0_usize..120, prop::collection::vec((0_usize..5, -8_isize..24), 0..=3))
        .prop_map(|(dtype, at, dims)| view(dtype, at, &dims))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// `false` is a promise: no byte is shared. Both orders answer alike.
    #[test]
    fn may_share_never_denies_a_shared_byte(a in any_view(), b in any_view()) {
        let shared = !bytes(&a).is_disjoint(&bytes(&b));
        prop_assert!(may_share(&a, &b) || !shared, "{a:?} and {b:?}");
        prop_assert_eq!(may_share(&a, &b), may_share(&b, &a));
    }

    /// Rows of two strides: what one period says of one view says nothing of the other.
    #[test]
    fn may_share_never_denies_a_shared_byte_of_unlike_rows(
        places in (0_usize..40, 0_usize..40), strides in (1_isize..14, 1_isize..14), rows in (1_usize..6, 1_usize..6),
        widths in (1_usize..6, 1_usize..6),
    ) {
        let a = view(DType::U8, places.0, &[(rows.0, strides.0), (widths.0, 1)]);
        let b = view(DType::U8, places.1, &[(rows.1, strides.1), (widths.1, 1)]);
        prop_assert!(may_share(&a, &b) || bytes(&a).is_disjoint(&bytes(&b)), "{a:?} and {b:?}");
    }

    /// Windows of columns of one matrix: the answer is exact, so that q, k and v of one packed buffer are not refused.
    #[test]
    fn may_share_is_exact_for_columns_of_one_buffer(
        rows in 2_usize..6, period in 8_usize..40, starts in (0_usize..40, 0_usize..40), widths in (1_usize..40, 1_usize..40),
        rows_apart in 0_usize..2,
    ) {
        let column = |start: usize, width: usize, row: usize| {
            let width = width.min(period - start % period);
            view(DType::BF16, (start % period + row * period) * 2, &[(rows, period as isize), (width, 1)])
        };
        let (a, b) = (column(starts.0, widths.0, 0), column(starts.1, widths.1, rows_apart));
        prop_assert_eq!(may_share(&a, &b), !bytes(&a).is_disjoint(&bytes(&b)), "{:?} and {:?}", a, b);
    }
}

#[test]
fn keys_and_values_of_one_cache_do_not_share() {
    // [pages, 2, page_size, heads * dim]: K and V alternate within a page.
    let (pages, page, row) = (4, 16, 64);
    let outer = 2 * page * row;
    let of = |index: usize| {
        view(DType::F16, index * page * row * 2, &[(pages, outer as isize), (page, row as isize), (row, 1)])
    };
    assert!(!may_share(&of(0), &of(1)));
    assert!(may_share(&of(0), &of(0)));
}

#[test]
fn a_view_that_leaves_the_address_space_may_share_anything() {
    let far = view(DType::F64, 0, &[(2, isize::MAX)]);
    assert!(may_share(&far, &view(DType::U8, 0, &[(1, 1)])));
}
