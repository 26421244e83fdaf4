// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Safe views over slices: bounds always, and no overlap where they can be written.

use opweave_tensor::{DType, TensorMut, TensorRef, ViewError};
use proptest::prelude::*;

#[test]
fn a_view_larger_than_its_slice_is_refused_with_the_numbers() {
    let data = [0.0_f32; 11];
    let error = TensorRef::new(&data, &[3, 4]).unwrap_err();
    assert_eq!(error, ViewError::OutOfBounds { shape: vec![3, 4], strides: vec![4, 1], needed: 12, available: 11 });
    assert_eq!(error.to_string(), "shape [3, 4] with strides [4, 1] needs 12 elements; the slice has 11");
    // The last row of a strided view ends before its stride does.
    assert!(TensorRef::strided(&data, &[3, 3], &[4, 1]).is_ok());
    assert!(TensorRef::new(&data, &[]).is_ok());
    assert!(TensorRef::<f32>::new(&[], &[]).is_err(), "one element is needed");
    assert!(TensorRef::<f32>::new(&[], &[0, 4]).is_ok(), "none is needed");
}

#[test]
fn a_view_holds_the_dtype_of_its_slice() {
    assert_eq!(TensorRef::new(&[1_u8, 2], &[2]).unwrap().raw().dtype(), DType::U8);
    assert_eq!(TensorRef::new(&[half::bf16::ONE], &[1]).unwrap().raw().dtype(), DType::BF16);
    assert_eq!(TensorMut::new(&mut [half::f16::ONE], &[1]).unwrap().raw().dtype(), DType::F16);
    assert_eq!(TensorMut::new(&mut [true], &[1]).unwrap().raw().dtype(), DType::Bool);
}

#[test]
fn a_slice_is_viewed_forwards() {
    let data = [0_i32; 8];
    let error = TensorRef::strided(&data, &[2, 2], &[2, -1]).unwrap_err();
    assert!(matches!(error, ViewError::Stride { axis: 1, stride: -1, .. }), "{error}");
}

#[test]
fn writable_elements_must_not_overlap() {
    let mut data = [0_i32; 64];
    let cases: &[(&[usize], &[isize], bool)] = &[
        (&[4, 4], &[4, 1], true),
        (&[4, 4], &[5, 1], true),
        (&[4, 4], &[3, 1], false),
        (&[4, 4], &[0, 1], false),
        (&[4, 4], &[4, 0], false),
        (&[1, 4], &[0, 1], true),
        (&[4, 4], &[-4, 1], false),
        (&[2, 2, 2], &[8, 2, 1], true),
        (&[2, 2, 2], &[3, 2, 1], false),
    ];
    for (shape, strides, legal) in cases {
        let view = TensorMut::strided(&mut data, shape, strides);
        assert_eq!(view.is_ok(), *legal, "{shape:?} {strides:?}: {view:?}");
    }
    // A reader may repeat a row.
    assert!(TensorRef::strided(&data, &[4, 4], &[0, 1]).is_ok());
}

#[test]
fn sizes_that_overflow_are_out_of_bounds_not_a_panic() {
    let mut data = [0_u8; 4];
    let far = isize::MAX;
    let error = TensorRef::strided(&data, &[usize::MAX, usize::MAX], &[far, far]).unwrap_err();
    assert!(matches!(error, ViewError::OutOfBounds { .. }), "{error}");
    assert!(TensorMut::strided(&mut data, &[usize::MAX, 2], &[far, 1]).is_err());
}

proptest! {
    /// Whatever a slice view accepts lies within the slice, and a writable one reaches each element once.
    #[test]
    fn an_accepted_view_stays_inside_and_writes_each_element_once(
        dims in prop::collection::vec((0_usize..5, -2_isize..30), 0..=4),
        length in 0_usize..200,
    ) {
        let (shape, strides): (Vec<usize>, Vec<isize>) = dims.into_iter().unzip();
        let mut data = vec![0_i16; length];
        let mut offsets = vec![0_i64];
        for (&size, &stride) in shape.iter().zip(&strides) {
            offsets = offsets.iter().flat_map(|o| (0..size as i64).map(move |i| o + i * stride as i64)).collect();
        }
        let inside = offsets.iter().all(|&o| (0..length as i64).contains(&o));
        let mut unique = offsets.clone();
        unique.sort_unstable();
        unique.dedup();
        if TensorRef::strided(&data, &shape, &strides).is_ok() {
            prop_assert!(inside, "{shape:?} {strides:?} in {length}");
        } else if strides.iter().all(|&s| s >= 0) {
            prop_assert!(!inside, "{shape:?} {strides:?} in {length} was refused");
        }
        if TensorMut::strided(&mut data, &shape, &strides).is_ok() {
            prop_assert!(inside && unique.len() == offsets.len(), "{shape:?} {strides:?} in {length}");
        }
    }
}
