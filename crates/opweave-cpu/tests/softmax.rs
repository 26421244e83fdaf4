// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Softmax and its logarithm at the edges of their arithmetic.
//!
//! Tests whose name begins with `odd_` are quick and touch every kind of row end: they are the ones to run under valgrind.

use half::{bf16, f16};
use opweave_cpu::Rows;
use opweave_cpu::simd::{Elem, Isa, last_level_cache};
use opweave_cpu::softmax::{SoftmaxCall, softmax};
use opweave_device::cpu::Serial;

/// One row of logits through softmax, or its logarithm.
fn row<T: Elem, U: Elem>(isa: Isa, logits: &[T], temperature: f32, logarithm: bool) -> Vec<U> {
    let mut out = vec![U::default(); logits.len()];
    let rows = |data: *mut u8| Rows { data, stride: logits.len() as isize };
    let call = SoftmaxCall {
        rows: 1,
        width: logits.len(),
        dtype: T::DTYPE,
        out_dtype: U::DTYPE,
        input: rows(logits.as_ptr().cast_mut().cast()),
        out: rows(out.as_mut_ptr().cast()),
        temperature,
        logarithm,
    };
    // SAFETY: two slices of the stated dtypes and width, apart from each other; only `out` is written.
    unsafe { softmax(isa, &Serial, &call) };
    out
}

/// A row in place.
fn in_place<T: Elem>(isa: Isa, logits: &[T], logarithm: bool) -> Vec<T> {
    let mut both = logits.to_vec();
    let rows = Rows { data: both.as_mut_ptr().cast(), stride: logits.len() as isize };
    let (width, dtype) = (logits.len(), T::DTYPE);
    let call =
        SoftmaxCall { rows: 1, width, dtype, out_dtype: dtype, input: rows, out: rows, temperature: 1.0, logarithm };
    // SAFETY: one slice of the stated dtype and width, which is input and output.
    unsafe { softmax(isa, &Serial, &call) };
    both
}

/// Case A18: the maximum is subtracted before anything is lost to it.
#[test]
fn a18_logits_of_any_size() {
    for isa in Isa::available() {
        for v in [1.0_f32, 1e4, 1e8, 1e20, -1e20, f32::MAX] {
            let half: Vec<f32> = row(isa, &[v, v], 1.0, true);
            assert_eq!(half, [-std::f32::consts::LN_2; 2], "{} {v}", isa.name());
            assert_eq!(row::<f32, f32>(isa, &[v, v], 1.0, false), [0.5; 2], "{} {v}", isa.name());
        }
        assert_eq!(row::<f32, f32>(isa, &[1000.0, 1000.0, 0.0], 1.0, false), [0.5, 0.5, 0.0], "{}", isa.name());
        // The largest and the smallest number: their difference overflows, and is as good as -infinity.
        assert_eq!(row::<f32, f32>(isa, &[f32::MAX, f32::MIN], 1.0, false), [1.0, 0.0], "{}", isa.name());
    }
}

/// Case A18: wide rows whose widths are no power of two sum to 1.
#[test]
fn a18_wide_rows_sum_to_one() {
    for isa in Isa::available() {
        for width in [32_000, 128_257, 151_936, 262_144] {
            let logits: Vec<bf16> = (0..width).map(|i| bf16::from_f64((i * 7919 % 1009) as f64 / 100.0)).collect();
            let results: Vec<f32> = row(isa, &logits, 1.0, false);
            let sum: f64 = results.iter().map(|&p| f64::from(p)).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{} {width}: {sum}", isa.name());
            let logs: Vec<f32> = row(isa, &logits, 1.0, true);
            let sum: f64 = logs.iter().map(|&p| f64::from(p).exp()).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{} {width}: {sum}", isa.name());
        }
    }
}

#[test]
fn nothing_but_minus_infinity_is_nan_and_nan_is_everywhere() {
    let infinity = f32::INFINITY;
    for isa in Isa::available() {
        for logarithm in [false, true] {
            for width in [1, 5, 64, 67] {
                let nan = |logits: &[f32]| row::<f32, f32>(isa, logits, 1.0, logarithm).iter().all(|p| p.is_nan());
                let name = format!("{} {width} {logarithm}", isa.name());
                assert!(nan(&vec![-infinity; width]), "{name}: nothing");
                for place in [0, width / 2, width - 1] {
                    for poison in [f32::NAN, -f32::NAN, infinity] {
                        let mut logits = vec![0.25_f32; width];
                        logits[place] = poison;
                        assert!(nan(&logits), "{name}: {poison} at {place}");
                    }
                    let mut logits = vec![-infinity; width];
                    logits[place] = -3.0;
                    let mut expected = vec![if logarithm { -infinity } else { 0.0 }; width];
                    expected[place] = if logarithm { 0.0 } else { 1.0 };
                    assert_eq!(row::<f32, f32>(isa, &logits, 1.0, logarithm), expected, "{name}: one at {place}");
                }
            }
        }
    }
}

/// Where one logit has nearly everything, its logarithm is what the others have, to the last places.
#[test]
fn the_logarithm_of_a_certainty_is_not_zero() {
    for isa in Isa::available() {
        for width in [2_u8, 33, 100] {
            let mut logits = vec![-20.0_f32; usize::from(width)];
            logits[1] = 0.0;
            let expected = -(f64::from(width - 1) * (-20_f64).exp()).ln_1p();
            let actual = f64::from(row::<f32, f32>(isa, &logits, 1.0, true)[1]);
            assert!((actual / expected - 1.0).abs() < 1e-6, "{} {width}: {actual:e}, not {expected:e}", isa.name());
        }
    }
}

/// Down to temperatures whose reciprocal overflows, and up to those that make all equal.
#[test]
fn every_temperature() {
    let logits = [0.5_f32, 0.25, 0.5, -1.0, 1e-3];
    for isa in Isa::available() {
        for temperature in [f32::from_bits(1), 1e-42, 1e-38, 1e-3, 0.7, 3.0, 1e30, f32::MAX] {
            let exponents = logits.map(|x| ((f64::from(x) - 0.5) / f64::from(temperature)).exp());
            let sum: f64 = exponents.iter().sum();
            for (p, e) in row::<f32, f32>(isa, &logits, temperature, false).into_iter().zip(exponents) {
                let near = (f64::from(p) - e / sum).abs() <= 1e-5 * (e / sum) + 2e-45;
                assert!(near, "{} {temperature:e}: {p}, not {}", isa.name(), e / sum);
            }
        }
    }
}

#[test]
fn odd_widths_end_where_they_end() {
    fn widths<T: Elem, U: Elem>(tolerance: f64) {
        for isa in Isa::available() {
            for width in (1..=70).chain([511, 513]) {
                let logits: Vec<T> = (0..width).map(|i| T::from_f64((i * 37 % 101) as f64 / 16.0 - 3.0)).collect();
                let logits = logits.into_boxed_slice();
                let largest = logits.iter().map(|x| x.to_f64()).fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = logits.iter().map(|x| (x.to_f64() - largest).exp()).sum();
                let (p, l) = (row::<T, U>(isa, &logits, 1.0, false), row::<T, U>(isa, &logits, 1.0, true));
                for i in 0..width {
                    let shifted = logits[i].to_f64() - largest;
                    let (probability, log) = (shifted.exp() / sum, shifted - sum.ln());
                    let name = format!("{} {width} {i}", isa.name());
                    assert!((p[i].to_f64() - probability).abs() <= tolerance * probability, "{name}");
                    assert!((l[i].to_f64() - log).abs() <= tolerance * log.abs() + 1e-7, "{name}");
                }
                if T::DTYPE == U::DTYPE {
                    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                    let wide = |values: Vec<T>| bits(&values.iter().map(|v| v.to_f64()).collect::<Vec<_>>());
                    assert_eq!(
                        wide(in_place(isa, &logits, false)),
                        bits(&p.iter().map(|v| v.to_f64()).collect::<Vec<_>>())
                    );
                    assert_eq!(
                        wide(in_place(isa, &logits, true)),
                        bits(&l.iter().map(|v| v.to_f64()).collect::<Vec<_>>())
                    );
                }
            }
        }
    }
    widths::<f32, f32>(3e-6);
    widths::<f16, f16>(1e-3);
    widths::<bf16, bf16>(8e-3);
    widths::<f16, f32>(3e-6);
    widths::<bf16, f32>(3e-6);
}

/// An output larger than the last-level cache goes past it, some rows aligned and some not.
#[test]
fn results_past_the_caches_are_the_same() {
    fn large<T: Elem, U: Elem>(logarithm: bool) {
        let width = 4096 + 13;
        let logits: Vec<T> = (0..width).map(|i| T::from_f64((i * 37 % 1009) as f64 / 128.0 - 4.0)).collect();
        let rows = last_level_cache() / (width * size_of::<U>()) + 1;
        let mut out = vec![U::default(); rows * width];
        for isa in Isa::available() {
            out.fill(U::default());
            let call = SoftmaxCall {
                rows,
                width,
                dtype: T::DTYPE,
                out_dtype: U::DTYPE,
                // One row again and again, so that only the output is large.
                input: Rows { data: logits.as_ptr().cast_mut().cast(), stride: 0 },
                out: Rows { data: out.as_mut_ptr().cast(), stride: width as isize },
                temperature: 1.0,
                logarithm,
            };
            // SAFETY: slices of a row and of `rows` rows, apart from each other; only `out` is written.
            unsafe { softmax(isa, &Serial, &call) };
            let expected: Vec<U> = row(isa, &logits, 1.0, logarithm);
            for (row, out) in out.chunks(width).enumerate() {
                let same = out.iter().zip(&expected).all(|(a, b)| a.to_f64() == b.to_f64());
                assert!(same, "{} {} to {} row {row}", isa.name(), T::DTYPE, U::DTYPE);
            }
        }
    }
    large::<bf16, bf16>(false);
    large::<f16, f32>(true);
}
