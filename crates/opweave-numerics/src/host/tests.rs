// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use super::*;

fn filled(layout: Layout) -> HostTensor {
    let mut tensor = HostTensor::zeros(layout).unwrap();
    let count = tensor.layout().elements();
    tensor.set_values(&(0..count).map(|i| i as f64).collect::<Vec<_>>()).unwrap();
    tensor
}

#[test]
fn values_round_trip_through_every_stride_class() {
    let shapes: [(&[usize], &[isize]); 6] = [
        (&[3, 4], &[4, 1]),
        (&[3, 4], &[7, 1]),
        (&[3, 4], &[1, 3]),
        (&[2, 3, 4], &[40, 5, 1]),
        (&[3, 4], &[-4, 1]),
        (&[], &[]),
    ];
    // f8e8m0 holds powers of two alone.
    let plain = |d: DType| codec::supported(d) && d != DType::Bool && d != DType::F8E8M0;
    for &dtype in DType::ALL.iter().filter(|&&d| plain(d)) {
        for (shape, strides) in shapes {
            let layout = Layout { dtype, shape: shape.to_vec(), strides: strides.to_vec(), shift: 1 };
            // f8e4m3 holds integers exactly up to 16, f8e5m2 only up to 8.
            if matches!(dtype, DType::F8E5M2 | DType::F8E4M3) && layout.elements() > 8 {
                continue;
            }
            let tensor = filled(layout.clone());
            let expected: Vec<f64> = (0..layout.elements()).map(|i| i as f64).collect();
            assert_eq!(tensor.values(), expected, "{layout:?}");
            assert_eq!(tensor.broken_guard(), None, "{layout:?}");
        }
    }
}

#[test]
fn a_write_outside_the_elements_is_found_wherever_it_lands() {
    let layout = Layout::contiguous(DType::F16, &[7, 769]).padded_rows(3).shifted(1);
    let tensor = filled(layout);
    let outside = |offset: isize| {
        let mut copy = tensor.duplicate().unwrap();
        let at = copy.origin().wrapping_add_signed(offset);
        copy.image_mut()[at] ^= 1;
        copy.broken_guard()
    };
    let row_end = 769 * 2;
    let end = (6 * 772 + 769) * 2;
    for offset in [-1, -512, row_end, row_end + 5, end, end + 511] {
        assert_eq!(outside(offset), Some(offset));
    }
    for offset in [0, row_end - 1, 772 * 2, end - 1] {
        assert_eq!(outside(offset), None, "offset {offset} is an element's");
    }
}

#[test]
fn bands_survive_neither_a_fill_nor_a_shifted_copy() {
    let mut tensor = filled(Layout::contiguous(DType::F32, &[4, 16]));
    let image = tensor.image().to_vec();
    tensor.image_mut()[..GUARD].fill(0);
    assert!(tensor.broken_guard().is_some());
    tensor.restore(&image).unwrap();
    for shift in [1, 2, 4, 8, 16, 64, 256] {
        let length = image.len();
        tensor.image_mut()[length - GUARD..length - shift].copy_from_slice(&image[length - GUARD + shift..]);
        assert!(tensor.broken_guard().is_some(), "shift {shift}");
        tensor.restore(&image).unwrap();
    }
}

#[test]
fn alignment_and_shift_are_as_asked() {
    for shift in 0..5 {
        let mut tensor = HostTensor::zeros(Layout::contiguous(DType::BF16, &[4, 128]).shifted(shift)).unwrap();
        let view = tensor.view().unwrap();
        assert_eq!(view.data() as usize % ALIGNMENT, shift * 2);
        let mut copy = tensor.duplicate().unwrap();
        assert_eq!(copy.view().unwrap().data() as usize % ALIGNMENT, shift * 2);
    }
}

#[test]
fn poison_covers_elements_alone_and_is_counted() {
    for &dtype in DType::ALL.iter().filter(|&&d| codec::supported(d)) {
        let mut tensor = HostTensor::zeros(Layout::contiguous(dtype, &[3, 5]).padded_rows(2)).unwrap();
        tensor.poison();
        assert_eq!(tensor.count_poison(), 15, "{dtype}");
        assert_eq!(tensor.broken_guard(), None, "{dtype}");
    }
}

#[test]
fn a_view_over_a_sparse_span_of_two_rows_costs_no_memory_and_is_guarded() {
    let layout = Layout { dtype: DType::BF16, shape: vec![2, 16], strides: vec![(1 << 31) + 8, 1], shift: 0 };
    let mut tensor = HostTensor::zeros(layout).unwrap();
    tensor.poison();
    assert_eq!(tensor.broken_guard(), None);
    let second = tensor.origin() + ((1_usize << 31) + 8) * 2;
    tensor.image_mut()[second - 1] ^= 0x80;
    assert_eq!(tensor.broken_guard(), Some((1_isize << 32) + 15));
}

#[test]
fn malformed_layouts_are_typed_errors() {
    let strided = |dtype, shape: &[usize], strides: &[isize]| {
        HostTensor::zeros(Layout { dtype, shape: shape.to_vec(), strides: strides.to_vec(), shift: 0 }).unwrap_err()
    };
    assert!(matches!(strided(DType::I4, &[4], &[1]), HostError::DType(DType::I4)));
    assert!(matches!(strided(DType::F32, &[4, 4], &[1]), HostError::View(_)));
    assert!(matches!(strided(DType::F32, &[1; 7], &[1; 7]), HostError::View(_)));
    assert!(matches!(strided(DType::F32, &[usize::MAX], &[1]), HostError::Size { .. }));
    assert!(matches!(strided(DType::F32, &[4], &[isize::MAX]), HostError::Size { .. }));
    let mut tensor = HostTensor::zeros(Layout::contiguous(DType::F32, &[4])).unwrap();
    assert!(matches!(tensor.restore(&[0; 3]), Err(HostError::Image { .. })));
    assert!(matches!(tensor.set_values(&[0.0; 3]), Err(HostError::Count { .. })));
}

#[test]
fn inner_gaps_and_exchanged_dimensions_keep_every_element_apart() {
    let plain = Layout::contiguous(DType::F32, &[3, 2, 5]);
    assert_eq!(plain.clone().padded(1, 4).strides, [18, 9, 1]);
    assert_eq!(plain.clone().padded(1, 4).padded(0, 2).strides, [20, 9, 1]);
    assert_eq!(plain.clone().padded(1, 4).swapped().strides, [9, 27, 1]);
    for layout in [plain.clone().padded(1, 4), plain.clone().padded(1, 4).padded(0, 2), plain.swapped()] {
        let mut tensor = HostTensor::zeros(layout.clone()).unwrap();
        let values: Vec<f64> = (0..30).map(f64::from).collect();
        tensor.set_values(&values).unwrap();
        assert_eq!(tensor.values(), values, "{layout:?}");
        assert_eq!(tensor.broken_guard(), None, "{layout:?}");
    }
}

#[test]
fn picked_elements_are_those_that_were_named() {
    let mut tensor = HostTensor::zeros(Layout::contiguous(DType::I32, &[6])).unwrap();
    tensor.set_values(&[10.0, 11.0, 12.0, 13.0, 14.0, 15.0]).unwrap();
    assert_eq!(tensor.picked(&[5, 0, 3]).unwrap().values(), [15.0, 10.0, 13.0]);
}

#[test]
fn rows_that_repeat_the_sampled_ones_leave_guards_and_gaps_alone() {
    for strides in [[3, 1], [5, 1], [1, 7]] {
        let layout = Layout { dtype: DType::F32, shape: vec![7, 3], strides: strides.to_vec(), shift: 1 };
        let mut tensor = HostTensor::sampled(layout, vec![0, 4, 6]).unwrap();
        tensor.fill_rows(|index, row| row.iter_mut().zip(1..).for_each(|(bits, i)| *bits = 10 * index as u64 + i));
        tensor.repeat_rows();
        let mut row = Vec::new();
        let found = (0..7).map(|index| {
            tensor.read_row(index, &mut row);
            assert_eq!((row[1], row[2]), (row[0] + 1, row[0] + 2));
            row[0] / 10
        });
        // Row i repeats the i-th of those that were sampled, all around.
        assert_eq!(found.collect::<Vec<_>>(), [0, 4, 6, 0, 4, 6, 6], "{strides:?}");
        assert!(tensor.is_whole() && tensor.broken_guard().is_none(), "{strides:?}");
    }
}

#[test]
fn rows_that_threads_fill_are_those_that_one_fills() {
    // Many rows, an odd number of them; few; and rows with gaps, which one thread fills.
    for (shape, strides) in [([4099, 67], [67, 1]), ([3, 5], [5, 1]), ([4099, 67], [70, 1])] {
        let layout = Layout { dtype: DType::BF16, shape: shape.to_vec(), strides: strides.to_vec(), shift: 3 };
        let fill = |index: usize, row: &mut [u64]| {
            row.iter_mut().enumerate().for_each(|(i, bits)| *bits = (index * 67 + i) as u64 & 0xffff)
        };
        let (mut apart, mut alone) = (HostTensor::zeros(layout.clone()).unwrap(), HostTensor::zeros(layout).unwrap());
        apart.fill_rows_apart(fill);
        alone.fill_rows(fill);
        assert_eq!((apart.first_difference(&alone), apart.broken_guard()), (None, None));
    }
}
