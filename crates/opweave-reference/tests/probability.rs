// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! References of activations and softmax against numbers worked out by hand or taken from tables.

use opweave_contract::Operator;
use opweave_contract::ops::activation::*;
use opweave_contract::ops::softmax::*;
use opweave_reference::ops::activation::gelu_and_mul::gelu;
use opweave_reference::ops::activation::gelu_tanh_and_mul::gelu_tanh;
use opweave_reference::ops::activation::silu_and_mul::silu;
use opweave_reference::{Arguments, Reference, Values};
use opweave_tensor::DType::{self, BF16, F32};

/// Arguments of `O` in signature order: what is `None` here is absent.
fn arguments<O: Operator>(dtype: DType, tensors: &[Option<(&[usize], &[f64])>], scalars: &[f64]) -> Arguments {
    let values = |&(shape, data): &(&[usize], &[f64])| Values::new(dtype, shape, data.to_vec());
    Arguments::new::<O>(tensors.iter().map(|t| t.as_ref().map(values)).collect(), scalars.to_vec())
}

fn close(actual: f64, expected: f64) {
    assert!((actual - expected).abs() <= 1e-9 * expected.abs(), "{actual} is not {expected}");
}

#[test]
fn activations_at_tabulated_points() {
    // 1 / (1 + 1/e) = 0.73105857863
    close(silu(1.0), 0.731_058_578_63);
    close(silu(-1.0), -0.268_941_421_37);
    // The normal distribution: Phi(1) = 0.8413447460685, Phi(-6) = 9.86587645e-10.
    close(gelu(1.0), 0.841_344_746_068_5);
    close(gelu(-6.0), -6.0 * 9.865_876_450_377e-10);
    // tanh(sqrt(2 / pi) * 1.044715) = tanh(0.83355974) = 0.68238398
    assert!((gelu_tanh(1.0) - 0.841_191_99).abs() < 1e-7, "{}", gelu_tanh(1.0));
    assert!((gelu_tanh(1.0) - gelu(1.0)).abs() > 1e-4, "the approximation is told from what it approximates");
    for f in [silu, gelu, gelu_tanh] {
        assert_eq!((f(0.0), f(f64::INFINITY)), (0.0, f64::INFINITY));
        assert!(f(f64::NEG_INFINITY).is_nan() && f(f64::NAN).is_nan());
    }
}

#[test]
fn halves_stand_in_one_row_or_in_two_tensors_and_modes_round_in_between() {
    let packed = SiluAndMulProblem::new(2, BF16);
    let row: (&[usize], &[f64]) = (&[1, 4], &[1.0, -1.0, 3.0, 5.0]);
    let mut a = arguments::<SiluAndMul>(BF16, &[Some(row), None, Some((&[1, 2], &[0.0; 2]))], &[]);
    SiluAndMul::reference(&packed, &mut a).unwrap();
    // 3 * 0.7310586 = 2.1931757 between 2.1875 and 2.203125; 5 * -0.2689414 = -1.3447071 between -1.34375 and -1.3515625.
    assert_eq!(a.get("out").unwrap().data, [2.1875, -1.34375]);

    let separate = SiluAndMulProblem {
        halves: Halves::Separate,
        activation_product: ActivationProduct::RoundedActivation,
        ..packed
    };
    let (gate, up): ([f64; 2], [f64; 2]) = ([1.0, -1.0], [3.0, 5.0]);
    let tensors = [Some((&[1_usize, 2][..], &gate[..])), Some((&[1, 2], &up)), Some((&[1, 2], &[0.0; 2]))];
    let mut a = arguments::<SiluAndMul>(BF16, &tensors, &[]);
    SiluAndMul::reference(&separate, &mut a).unwrap();
    // 0.7310586 is 0.73046875 in bf16, times 3 2.19140625; -0.2689414 is -0.26953125, times 5 -1.34765625: a tie, to even.
    assert_eq!(a.get("out").unwrap().data, [2.1875, -1.34375]);
}

/// Case A18.
#[test]
fn softmax_of_large_logits() {
    for v in [1.0, 1e4, 1e8, 1e20] {
        let row: (&[usize], &[f64]) = (&[1, 2], &[v, v]);
        let mut a = arguments::<LogSoftmax>(F32, &[Some(row), Some((&[1, 2], &[0.0; 2]))], &[1.0]);
        LogSoftmax::reference(&LogSoftmaxProblem::new(2, F32), &mut a).unwrap();
        assert_eq!(a.get("out").unwrap().data, [f64::from(-std::f32::consts::LN_2); 2]);
    }
    let row: (&[usize], &[f64]) = (&[1, 3], &[1000.0, 1000.0, 0.0]);
    let mut a = arguments::<Softmax>(F32, &[Some(row), Some((&[1, 3], &[0.0; 3]))], &[1.0]);
    Softmax::reference(&SoftmaxProblem::new(3, F32), &mut a).unwrap();
    assert_eq!(a.get("out").unwrap().data, [0.5, 0.5, 0.0]);
}

#[test]
fn a_row_of_nothing_is_nan_and_a_temperature_divides() {
    let nothing = [f64::NEG_INFINITY; 3];
    let row: (&[usize], &[f64]) = (&[1, 3], &nothing);
    let mut a = arguments::<Softmax>(F32, &[Some(row), Some((&[1, 3], &[0.0; 3]))], &[1.0]);
    Softmax::reference(&SoftmaxProblem::new(3, F32), &mut a).unwrap();
    assert!(a.get("out").unwrap().data.iter().all(|p| p.is_nan()));

    // ln 3 times 2 over 2: probabilities of 3 to 1.
    let logits = [2.0 * 3_f64.ln(), 0.0];
    let row: (&[usize], &[f64]) = (&[1, 2], &logits);
    let mut a = arguments::<Softmax>(F32, &[Some(row), Some((&[1, 2], &[0.0; 2]))], &[2.0]);
    Softmax::reference(&SoftmaxProblem::new(2, F32), &mut a).unwrap();
    assert_eq!(a.get("out").unwrap().data, [0.75, 0.25]);
}
