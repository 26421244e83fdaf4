// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! References against numbers worked out by hand.

use opweave_contract::Operator;
use opweave_contract::ops::normalization::*;
use opweave_reference::{Arguments, Reference, ReferenceError, Values};
use opweave_tensor::DType::{self, BF16, F16, F32};

/// Arguments of `O` in signature order: what is `None` here is absent.
fn arguments<O: Operator>(dtype: DType, tensors: &[Option<(&[usize], &[f64])>], scalars: &[f64]) -> Arguments {
    let values = |&(shape, data): &(&[usize], &[f64])| Values::new(dtype, shape, data.to_vec());
    Arguments::new::<O>(tensors.iter().map(|t| t.as_ref().map(values)).collect(), scalars.to_vec())
}

fn close(actual: &[f64], expected: &[f64], within: f64) {
    assert_eq!(actual.len(), expected.len());
    for (a, e) in actual.iter().zip(expected) {
        assert!((a - e).abs() <= within, "{actual:?} is not {expected:?}");
    }
}

#[test]
fn rms_norm_of_3_and_4() {
    // sqrt((9 + 16) / 2) = 3.5355339
    let problem = RmsNormProblem::new(2, F32);
    let mut a = arguments::<RmsNorm>(
        F32,
        &[Some((&[1, 2], &[3.0, 4.0])), Some((&[2], &[1.0, -2.0])), Some((&[1, 2], &[0.0; 2]))],
        &[0.0],
    );
    RmsNorm::reference(&problem, &mut a).unwrap();
    close(&a.get("out").unwrap().data, &[0.848_528_137, -2.262_741_699], 2e-7);
}

/// Case A06: the two orders of rounding differ, and Gemma's scale keeps the weight's low bits.
#[test]
fn orders_of_rounding_are_told_apart() {
    // Rows in which the first value is 1.0048828 after normalisation and the second completes a mean square of 1.
    let x = 1.004_882_8_f64;
    let row = [x, (2.0 - x * x).sqrt()];
    for (multiply, expected) in [(WeightMultiply::AfterRounding, 1.515_625), (WeightMultiply::F32, 1.507_812_5)] {
        let problem = RmsNormProblem { weight_multiply: multiply, ..RmsNormProblem::new(2, BF16) };
        let tensors = [Some((&[1_usize, 2][..], &row[..])), Some((&[2], &[1.5, 1.5])), Some((&[1, 2], &[0.0; 2]))];
        let mut a = arguments::<RmsNorm>(BF16, &tensors, &[0.0]);
        RmsNorm::reference(&problem, &mut a).unwrap();
        assert_eq!(a.get("out").unwrap().data[0], expected, "{multiply:?}");
    }
    // Rounded to bf16 at the end; the sum 1 + w is not: 1.00390625 itself is no bf16 number.
    let problem = GemmaRmsNormProblem::new(2, F32);
    let tensors = [
        Some((&[1_usize, 2][..], &[1.0, 1.0][..])),
        Some((&[2], &[0.003_906_25, 15.8125])),
        Some((&[1, 2], &[0.0; 2])),
    ];
    let mut a = arguments::<GemmaRmsNorm>(F32, &tensors, &[0.0]);
    GemmaRmsNorm::reference(&problem, &mut a).unwrap();
    assert_eq!(a.get("out").unwrap().data, [1.003_906_25, 16.8125]);
}

/// Case A07's numbers, and the two sums.
#[test]
fn a_fused_add_stores_the_rounded_sum() {
    let problem = FusedAddRmsNormProblem { weight_dtype: None, ..FusedAddRmsNormProblem::new(4, F32) };
    let tensors = [
        Some((&[1_usize, 4][..], &[1.0, 2.0, 3.0, 4.0][..])),
        Some((&[1, 4], &[1.0; 4])),
        None,
        Some((&[1, 4], &[0.0; 4])),
    ];
    let mut a = arguments::<FusedAddRmsNorm>(F32, &tensors, &[0.0]);
    FusedAddRmsNorm::reference(&problem, &mut a).unwrap();
    assert_eq!(a.get("residual").unwrap().data, [2.0, 3.0, 4.0, 5.0]);
    let rms = 13.5_f64.sqrt();
    close(&a.get("out").unwrap().data, &[2.0 / rms, 3.0 / rms, 4.0 / rms, 5.0 / rms], 1e-7);

    // 256 + 1 is no bf16 number: stored as 256, but the unrounded norm sees 257.
    for (sum, expected) in [(Sum::Unrounded, 257.0), (Sum::Rounded, 256.0)] {
        let problem = FusedAddGemmaRmsNormProblem { sum, ..FusedAddGemmaRmsNormProblem::new(2, BF16) };
        let tensors = [
            Some((&[1_usize, 2][..], &[1.0, 0.0][..])),
            Some((&[1, 2], &[256.0, 1.0])),
            Some((&[2], &[0.0, 0.0])),
            Some((&[1, 2], &[0.0; 2])),
        ];
        let mut a = arguments::<FusedAddGemmaRmsNorm>(BF16, &tensors, &[0.0]);
        FusedAddGemmaRmsNorm::reference(&problem, &mut a).unwrap();
        assert_eq!(a.get("residual").unwrap().data, [256.0, 1.0]);
        let second = 1.0 / ((expected * expected + 1.0) / 2.0_f64).sqrt();
        assert_eq!(a.get("out").unwrap().data[1], opweave_reference::round(BF16, second), "{sum:?}");
    }
}

/// Case A41.
#[test]
fn layer_norm_far_from_zero() {
    let problem = LayerNormProblem { weight_dtype: None, bias_dtype: None, ..LayerNormProblem::new(4, F32) };
    for base in [1e4, 1e6] {
        let row: Vec<f64> = (0..4).map(|i| base + f64::from(i)).collect();
        let tensors = [Some((&[1_usize, 4][..], &row[..])), None, None, Some((&[1, 4], &[0.0; 4]))];
        let mut a = arguments::<LayerNorm>(F32, &tensors, &[1e-5]);
        LayerNorm::reference(&problem, &mut a).unwrap();
        close(&a.get("out").unwrap().data, &[-1.341_635, -0.447_211_7, 0.447_211_7, 1.341_635], 1e-5);
    }
    let problem = LayerNormProblem::new(2, F32);
    let tensors = [
        Some((&[1_usize, 2][..], &[1.0, 3.0][..])),
        Some((&[2], &[2.0, 3.0])),
        Some((&[2], &[10.0, 20.0])),
        Some((&[1, 2], &[0.0; 2])),
    ];
    let mut a = arguments::<LayerNorm>(F32, &tensors, &[0.0]);
    LayerNorm::reference(&problem, &mut a).unwrap();
    assert_eq!(a.get("out").unwrap().data, [8.0, 23.0]);
}

/// Case A42: the same epsilon means different things in the sum and in the mean.
#[test]
fn l2_norm_adds_epsilon_where_the_form_says() {
    let row = [1e-4; 64];
    for (form, epsilon, expected) in [
        (L2Form::RsqrtSumEps, 1e-6, 1e-4 / (64e-8_f64 + 1e-6).sqrt()),
        (L2Form::MaxNormEps, 1e-6, 0.125),
        (L2Form::MaxNormEps, 1e-2, 1e-2),
    ] {
        let problem = L2NormProblem { form, ..L2NormProblem::new(64, F32) };
        let mut a = arguments::<L2Norm>(F32, &[Some((&[1, 64], &row)), Some((&[1, 64], &[0.0; 64]))], &[epsilon]);
        L2Norm::reference(&problem, &mut a).unwrap();
        close(&a.get("out").unwrap().data, &[expected; 64], 1e-8);
    }
    let problem = L2NormProblem { form: L2Form::MaxNormEps, ..L2NormProblem::new(2, F16) };
    let mut a = arguments::<L2Norm>(F16, &[Some((&[1, 2], &[f64::NAN, 1.0])), Some((&[1, 2], &[0.0; 2]))], &[1.0]);
    L2Norm::reference(&problem, &mut a).unwrap();
    assert!(a.get("out").unwrap().data.iter().all(|v| v.is_nan()));
}

#[test]
fn the_gate_comes_before_or_after_and_groups_stand_alone() {
    let gate = |z: f64| z / (1.0 + (-z).exp());
    let (x, z) = ([3.0, 4.0, 30.0, 40.0], [1.0, -1.0, 2.0, 0.5]);
    let call = |order, groups| {
        let problem = RmsNormGatedProblem { order, groups, weight_dtype: None, ..RmsNormGatedProblem::new(4, F32) };
        let tensors = [Some((&[1_usize, 4][..], &x[..])), Some((&[1, 4], &z)), None, Some((&[1, 4], &[0.0; 4]))];
        let mut a = arguments::<RmsNormGated>(F32, &tensors, &[0.0]);
        RmsNormGated::reference(&problem, &mut a).unwrap();
        a.get("out").unwrap().data.clone()
    };
    let rms = 12.5_f64.sqrt();
    let after: Vec<f64> = (0..4).map(|i| x[i] / rms / if i < 2 { 1.0 } else { 10.0 } * gate(z[i])).collect();
    close(&call(GateOrder::NormThenGate, 2), &after, 1e-6);
    let gated: Vec<f64> = (0..4).map(|i| x[i] * gate(z[i])).collect();
    let rms = (gated.iter().map(|v| v * v).sum::<f64>() / 4.0).sqrt();
    close(&call(GateOrder::GateThenNorm, 1), &gated.iter().map(|v| v / rms).collect::<Vec<_>>(), 1e-6);
}

#[test]
fn an_edge_row_goes_the_way_of_the_formula() {
    let out = |row: &[f64], epsilon| {
        let problem = RmsNormProblem { weight_dtype: None, ..RmsNormProblem::new(row.len(), F32) };
        let shape = [1, row.len()];
        let zeros = vec![0.0; row.len()];
        let mut a = arguments::<RmsNorm>(F32, &[Some((&shape, row)), None, Some((&shape, &zeros))], &[epsilon]);
        RmsNorm::reference(&problem, &mut a).unwrap();
        a.get("out").unwrap().data.clone()
    };
    assert!(out(&[0.0, 0.0], 0.0).iter().all(|v| v.is_nan()), "0 / 0");
    assert_eq!(out(&[0.0, -0.0], 1e-6), [0.0, -0.0]);
    assert!(out(&[1.0, f64::NAN], 1e-6).iter().all(|v| v.is_nan()));
    let infinite = out(&[1.0, f64::INFINITY], 1e-6);
    assert!(infinite[0] == 0.0 && infinite[1].is_nan());
    let large = f64::from(f32::MAX);
    assert_eq!(out(&[large, -large], 0.0), [1.0, -1.0]);
}

#[test]
fn bad_arguments_are_named() {
    let problem = RmsNormProblem::new(2, F32);
    let mut missing = arguments::<RmsNorm>(F32, &[None, None, Some((&[1, 2], &[0.0; 2]))], &[0.0]);
    let error = RmsNorm::reference(&problem, &mut missing).unwrap_err();
    assert_eq!(error, ReferenceError::Missing { operation: "rms_norm", argument: "input" });
    let mut short = arguments::<RmsNorm>(
        F32,
        &[Some((&[1, 2], &[1.0; 2])), Some((&[1], &[1.0])), Some((&[1, 2], &[0.0; 2]))],
        &[0.0],
    );
    let error = RmsNorm::reference(&problem, &mut short).unwrap_err();
    assert_eq!(error, ReferenceError::Count { operation: "rms_norm", argument: "weight", expected: 2, actual: 1 });
}
