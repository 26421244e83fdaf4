// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Raw views: rank, strides, 64-bit offsets.

use opweave_tensor::{DType, DeviceId, LayoutId, MAX_RANK, RawTensor, ViewError};

fn null() -> *mut u8 {
    std::ptr::null_mut()
}

#[test]
fn contiguous_strides_are_row_major_and_an_empty_dimension_makes_none_of_them_zero() {
    let strides =
        |shape: &[usize]| RawTensor::contiguous(null(), DType::F32, DeviceId::CPU, shape).unwrap().strides().to_vec();
    assert_eq!(strides(&[2, 3, 4]), [12, 4, 1]);
    assert_eq!(strides(&[2, 0, 4]), [4, 4, 1]);
    assert_eq!(strides(&[]), [0_isize; 0]);
    assert_eq!(strides(&[1, 1, 1, 1, 1, 7]), [7, 7, 7, 7, 7, 1]);
}

#[test]
fn a_rank_past_the_most_is_refused_with_its_number() {
    let shape = [1; MAX_RANK + 1];
    let refused = ViewError::Rank { rank: MAX_RANK + 1 };
    assert_eq!(RawTensor::contiguous(null(), DType::F32, DeviceId::CPU, &shape).unwrap_err(), refused);
    assert_eq!(RawTensor::strided(null(), DType::F32, DeviceId::CPU, &shape, &[1; 7]).unwrap_err(), refused);
    assert_eq!(refused.to_string(), "rank 7 is not supported; at most 6");
    assert_eq!(
        RawTensor::strided(null(), DType::F32, DeviceId::CPU, &[1, 1], &[1]).unwrap_err(),
        ViewError::StrideCount { rank: 2, strides: 1 }
    );
}

#[test]
fn an_element_count_that_overflows_is_refused() {
    let huge = 1_usize << 40;
    let error = RawTensor::contiguous(null(), DType::F32, DeviceId::CPU, &[huge, huge]).unwrap_err();
    assert!(matches!(error, ViewError::Size { axis: 0, .. }), "{error}");
}

#[test]
fn past_the_rank_there_is_nothing() {
    let view = RawTensor::contiguous(null(), DType::F32, DeviceId::CPU, &[2, 3]).unwrap();
    assert_eq!((view.dim(2), view.stride(2), view.dim(99), view.stride(99)), (0, 0, 0, 0));
    assert_eq!((view.dim(MAX_RANK), view.axis(MAX_RANK), view.axis(0)), (0, (0, 0), (2, 3)));
    assert_eq!((view.rank(), view.elements(), view.is_empty()), (2, 6, false));
    let scalar = RawTensor::contiguous(null(), DType::F32, DeviceId::CPU, &[]).unwrap();
    assert_eq!((scalar.elements(), scalar.is_empty(), scalar.is_contiguous()), (1, false, true));
}

#[test]
fn contiguity_ignores_strides_of_dimensions_of_one_or_none() {
    let cases: &[(&[usize], &[isize], bool)] = &[
        (&[2, 3], &[3, 1], true),
        (&[2, 3], &[4, 1], false),
        (&[1, 3], &[99, 1], true),
        (&[2, 1], &[1, 99], true),
        (&[0, 3], &[-5, 1], true),
        (&[2, 3], &[1, 2], false),
        (&[3], &[-1], false),
        (&[3], &[0], false),
    ];
    for (shape, strides, expected) in cases {
        let view = RawTensor::strided(null(), DType::F32, DeviceId::CPU, shape, strides).unwrap();
        assert_eq!(view.is_contiguous(), *expected, "{view:?}");
    }
}

/// Case A08: row 8388608 of a view with row stride 256 starts at element 2147483648, which 32 bits would make negative.
#[test]
fn a08_offsets_past_two_to_the_31_are_exact() {
    let rows = 8_388_609_usize;
    let view = RawTensor::strided(null(), DType::F32, DeviceId::CPU, &[rows, 256], &[256, 1]).unwrap();
    assert_eq!((rows - 1) as isize * view.stride(0), 2_147_483_648);
    let extent = view.extent().unwrap();
    assert_eq!(extent.end - extent.start, rows * 256 * 4);
}

/// Case A08: two rows that lie 2^31 + 8 elements apart.
#[test]
fn a08_a_row_stride_past_two_to_the_31_is_exact() {
    let stride = (1_isize << 31) + 8;
    for (dtype, width) in [(DType::F32, 4), (DType::BF16, 2), (DType::U8, 1)] {
        let view = RawTensor::strided(null(), dtype, DeviceId::CPU, &[2, 8], &[stride, 1]).unwrap();
        let extent = view.extent().unwrap();
        assert_eq!((extent.start, extent.end), (0, (stride as usize + 8) * width), "{dtype}");
        assert!(!view.is_contiguous());
    }
    let exactly = RawTensor::contiguous(null(), DType::BF16, DeviceId::CPU, &[131_072, 16_384]).unwrap();
    assert_eq!(exactly.elements(), 1 << 31);
}

#[test]
fn a_packed_view_carries_its_layout_and_layouts_differ_by_description() {
    let id = LayoutId::of("tiles of 8 columns");
    let view = RawTensor::packed(null(), DeviceId::CPU, 640, id);
    assert_eq!((view.layout(), view.dtype(), view.shape()), (id, DType::U8, &[640_usize][..]));
    assert_ne!(id, LayoutId::of("tiles of 16 columns"));
    assert_ne!(LayoutId::of(""), LayoutId::PLAIN);
    // The published FNV-1a vectors: equal descriptions agree between processes and releases.
    assert_eq!(LayoutId::of("a").0, 0xaf63_dc4c_8601_ec8c);
    assert_eq!(LayoutId::of("foobar").0, 0x8594_4171_f739_67e8);
}

#[test]
fn views_are_data_and_cross_threads() {
    let view = RawTensor::contiguous(null(), DType::F32, DeviceId::CPU, &[4]).unwrap();
    let moved = std::thread::spawn(move || view.elements()).join().unwrap();
    assert_eq!(moved, 4);
    let there = view.with_data(std::ptr::without_provenance_mut(64));
    assert_eq!((there.data() as usize, view.data() as usize), (64, 0));
}
