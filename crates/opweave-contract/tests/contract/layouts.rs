// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Strides and placements at random, against sets of bytes: what the check accepts is harmless.

use std::collections::BTreeSet;

use opweave_contract::ops::normalization::{FusedAddRmsNorm, FusedAddRmsNormArgs, FusedAddRmsNormProblem};
use opweave_contract::{DynDims, Operator};
use opweave_tensor::{DType, RawTensor};
use proptest::prelude::*;

use crate::calls::{DEVICE, Source, assemble, specs};
use crate::probe::{Probe, ProbeProblem};

/// Byte of every element's first byte, in order of the elements.
fn starts(view: &RawTensor) -> Vec<i64> {
    let bytes = view.dtype().bits() as i64 / 8;
    let mut offsets = vec![view.data() as i64];
    for (&size, &stride) in view.shape().iter().zip(view.strides()) {
        offsets = offsets.iter().flat_map(|o| (0..size as i64).map(move |i| o + i * stride as i64 * bytes)).collect();
    }
    offsets
}

fn bytes(view: &RawTensor) -> BTreeSet<i64> {
    let width = view.dtype().bits() as i64 / 8;
    starts(view).into_iter().flat_map(|s| s..s + width).collect()
}

fn rows(at: usize, count: usize, stride: usize, width: usize) -> RawTensor {
    let data = std::ptr::without_provenance_mut((1 << 20) + at * 2);
    RawTensor::strided(data, DType::BF16, DEVICE, &[count, width], &[stride as isize, 1]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A writable tensor that passes has no element twice, and rows that nest in one of the orders that are free always pass.
    #[test]
    fn accepted_strides_reach_each_element_once(
        strides in (-4_isize..40, -4_isize..40, -1_isize..3),
    ) {
        let problem = ProbeProblem::new(8, 2, DType::F32);
        let (specs, state) = (specs::<Probe>(&problem), Probe::signature().tensor("state").unwrap());
        let strides = [strides.0, strides.1, strides.2];
        let change = |v: RawTensor| RawTensor::strided(v.data(), v.dtype(), v.device(), v.shape(), &strides).unwrap();
        let source = Source { replace: Some((state, &change)), ..Source::new(DynDims::new(&[3, 3])) };
        let args = assemble::<Probe>(&specs, source);
        let accepted = Probe::check(&specs, &args).is_ok();
        let starts = starts(&args.state);
        let distinct = starts.iter().collect::<BTreeSet<_>>().len() == starts.len();
        prop_assert!(distinct || !accepted, "{strides:?}");
        let nested = strides[2] == 1 && strides[1] >= 4 && strides[0] >= 2 * strides[1];
        // The heads may also lie outside the sequences.
        let crossed = strides[2] == 1 && strides[0] >= 4 && strides[1] >= 3 * strides[0];
        prop_assert_eq!(accepted, nested || crossed, "{:?}", strides);
    }

    /// Outputs anywhere in one buffer: what passes shares no byte, or shares all of them where the contract says so.
    #[test]
    fn accepted_placements_share_no_byte_but_an_alias(
        places in prop::collection::vec(0_usize..90, 3),
        strides in prop::collection::vec(6_usize..30, 3),
        alias in any::<bool>(),
        count in 0_usize..4,
        same_stride in any::<bool>(),
    ) {
        let problem = FusedAddRmsNormProblem::new(6, DType::BF16);
        let specs = specs::<FusedAddRmsNorm>(&problem);
        let stride = |i: usize| if same_stride { strides[0] } else { strides[i] };
        let input = rows(places[0], count, stride(0), 6);
        let residual = rows(places[1], count, stride(1), 6);
        let out = if alias { input } else { rows(places[2], count, stride(2), 6) };
        let weight = RawTensor::contiguous(std::ptr::without_provenance_mut(1 << 30), DType::BF16, DEVICE, &[6]).unwrap();
        let args = FusedAddRmsNormArgs { input, residual, weight: Some(weight), out, epsilon: 0.0 };
        let accepted = FusedAddRmsNorm::check(&specs, &args).is_ok();
        let apart = |a: &RawTensor, b: &RawTensor| bytes(a).is_disjoint(&bytes(b));
        let exact = starts(&out) == starts(&input);
        let harmless = apart(&residual, &input) && apart(&residual, &out) && (exact || apart(&out, &input));
        prop_assert!(harmless || !accepted, "{input:?} {residual:?} {out:?}");
        // Rows of one buffer with one stride are told apart exactly; so is everything whose extents do not meet.
        if same_stride {
            prop_assert_eq!(accepted, harmless, "{:?} {:?} {:?}", input, residual, out);
        }
    }
}
