// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The extent of a view covers the bytes that its elements touch, and no byte more at either end.

use opweave_tensor::{DType, DeviceId, Extent, RawTensor};
use proptest::prelude::*;

/// Far enough from address 0 for the negative strides below.
const BASE: usize = 1 << 20;

/// The first and past-the-last byte that any element touches, element by element.
fn touched(view: &RawTensor) -> Option<(i128, i128)> {
    let bits = view.dtype().bits() as i128;
    let mut offsets = vec![0_i128];
    for (&size, &stride) in view.shape().iter().zip(view.strides()) {
        offsets = offsets.iter().flat_map(|o| (0..size as i128).map(move |i| o + i * stride as i128)).collect();
    }
    let first = offsets.iter().min()?.checked_mul(bits)?.div_euclid(8);
    let last = ((offsets.iter().max()? + 1) * bits + 7).div_euclid(8);
    Some((BASE as i128 + first, BASE as i128 + last))
}

fn view(dtype: DType, dims: &[(usize, isize)]) -> RawTensor {
    let (shape, strides): (Vec<usize>, Vec<isize>) = dims.iter().copied().unzip();
    let data = std::ptr::without_provenance_mut(BASE);
    RawTensor::strided(data, dtype, DeviceId::CPU, &shape, &strides).unwrap()
}

proptest! {
    #[test]
    fn extent_covers_exactly_the_touched_bytes(
        dtype in prop::sample::select(DType::ALL),
        dims in prop::collection::vec((0_usize..5, -40_isize..40), 0..=6),
    ) {
        let view = view(dtype, &dims);
        let extent = view.extent().unwrap();
        match touched(&view) {
            Some((first, last)) => prop_assert_eq!((extent.start as i128, extent.end as i128), (first, last)),
            None => prop_assert_eq!(extent, Extent { start: BASE, end: BASE }),
        }
        prop_assert_eq!(view.is_empty(), touched(&view).is_none());
    }

    #[test]
    fn contiguous_extent_is_the_byte_count(
        dtype in prop::sample::select(DType::ALL),
        shape in prop::collection::vec(0_usize..9, 0..=6),
    ) {
        let data = std::ptr::without_provenance_mut(BASE);
        let view = RawTensor::contiguous(data, dtype, DeviceId::CPU, &shape).unwrap();
        let extent = view.extent().unwrap();
        prop_assert!(view.is_contiguous());
        prop_assert_eq!(extent.end - extent.start, (view.elements() * dtype.bits()).div_ceil(8));
    }
}

#[test]
fn an_extent_outside_the_address_space_is_none() {
    let far = isize::MAX;
    for dims in [vec![(3, far)], vec![(2, far), (2, far)], vec![(2, -far)], vec![(usize::MAX, 1)], vec![(2, far / 8)]] {
        assert_eq!(view(DType::F64, &dims).extent(), None, "{dims:?}");
    }
}

#[test]
fn an_empty_view_touches_nothing_however_large_its_other_dimensions() {
    for dims in [vec![(usize::MAX, isize::MAX), (0, 1)], vec![(0, 1), (usize::MAX, isize::MAX)], vec![(0, isize::MIN)]]
    {
        assert_eq!(view(DType::F64, &dims).extent(), Some(Extent { start: BASE, end: BASE }), "{dims:?}");
    }
}

#[test]
fn empty_extents_overlap_nothing() {
    let e = |start, end| Extent { start, end };
    let cases = [
        (e(0, 4), e(3, 5), true),
        (e(0, 4), e(4, 5), false),
        (e(0, 4), e(0, 4), true),
        (e(2, 2), e(0, 4), false),
        (e(0, 4), e(2, 2), false),
        (e(1, 2), e(0, 4), true),
    ];
    for (a, b, expected) in cases {
        assert_eq!(a.overlaps(b), expected, "{a:?} {b:?}");
        assert_eq!(b.overlaps(a), expected, "{b:?} {a:?}");
    }
}
