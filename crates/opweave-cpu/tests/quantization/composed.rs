// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A norm that ends in codes is the norm and then `dynamic_quant`, bit for bit, by running both.

use opweave_contract::ops::quantization::{ScaleFormat, largest_code};
use opweave_cpu::Rows;
use opweave_cpu::normalization::{Columns, RmsCall, RmsQuantCall, Statistic, rms_norm, rms_norm_dynamic_quant};
use opweave_cpu::quantization::{DynamicCall, ScaleRule, dynamic_quant};
use opweave_cpu::simd::Isa;
use opweave_device::cpu::{Parallel, Serial};
use opweave_tensor::{DType, F8E4M3};

use crate::support::{DTYPES, Numbers, noise, pools};

/// Codes, scales and the residual afterwards.
type Outcome = (Vec<u8>, Vec<u32>, Vec<u32>);

struct Case {
    input: Numbers,
    residual: Option<Numbers>,
    weight: Option<Numbers>,
    rows: usize,
    width: usize,
    codes: DType,
    format: ScaleFormat,
    round_normalised: bool,
    round_sum: bool,
    eps: f64,
}

impl Case {
    fn norm(&self, residual: Option<&Numbers>, out: Rows) -> RmsCall {
        let width = self.width;
        RmsCall {
            rows: self.rows,
            width,
            dtype: self.input.dtype,
            input: self.input.rows(0, width),
            residual: residual.map(|r| r.rows(0, width)),
            out,
            weight: self.weight.as_ref().map(|w| Columns { data: w.rows(0, 0).data, dtype: w.dtype }),
            weight_plus_one: false,
            statistic: Statistic::RootMeanSquare { eps: self.eps },
            round_normalised: self.round_normalised,
            round_sum: self.round_sum,
        }
    }

    fn rule(&self) -> ScaleRule {
        ScaleRule { largest_code: largest_code(self.codes), floor: 0.0, format: self.format }
    }

    fn one_after_the_other(&self, isa: Isa, pool: &dyn Parallel) -> Outcome {
        let (rows, width) = (self.rows, self.width);
        let residual = self.residual.clone();
        let norm = Numbers::new(self.input.dtype, std::iter::repeat_n(0.0, rows * width));
        let (mut out, mut scale) = (vec![0xa5_u8; rows * width], vec![7_u32; rows]);
        let call = DynamicCall {
            rows,
            width,
            dtype: self.input.dtype,
            codes: self.codes,
            input: norm.rows(0, width),
            out: Rows { data: out.as_mut_ptr(), stride: width as isize },
            scale: scale.as_mut_ptr().cast(),
            rule: self.rule(),
            i8_range: 127,
        };
        // SAFETY: vectors of `rows * width` elements, a weight of `width`, and `rows` scales, of the dtypes stated.
        unsafe {
            rms_norm(isa, pool, &self.norm(residual.as_ref(), norm.rows(0, width)));
            dynamic_quant(isa, pool, &call);
        }
        (out, scale, residual.map_or_else(Vec::new, |r| r.bits()))
    }

    fn fused(&self, isa: Isa, pool: &dyn Parallel, unrounded: bool) -> Outcome {
        let (rows, width) = (self.rows, self.width);
        let residual = self.residual.clone();
        let (mut out, mut scale) = (vec![0xa5_u8; rows * width], vec![7_u32; rows]);
        let codes = Rows { data: out.as_mut_ptr(), stride: width as isize };
        let call = RmsQuantCall {
            norm: self.norm(residual.as_ref(), codes),
            unrounded,
            codes: self.codes,
            scale: scale.as_mut_ptr().cast(),
            rule: self.rule(),
            i8_range: 127,
        };
        // SAFETY: as above.
        unsafe { rms_norm_dynamic_quant(isa, pool, &call) };
        (out, scale, residual.map_or_else(Vec::new, |r| r.bits()))
    }
}

/// Ordinary rows; rows that f32 cannot square; zeros; NaN; an infinity.
fn value(row: usize, column: usize) -> f32 {
    let noise = noise(row * 40_009 + column);
    match row {
        1 => noise * 3e38,
        2 => noise * 1e-38,
        3 => 0.0,
        4 if column == 0 => f32::NAN,
        5 if column == 0 => f32::INFINITY,
        _ => noise * (row + 1) as f32,
    }
}

#[test]
fn composed_is_the_two_operators_one_after_the_other_bit_for_bit() {
    for isa in Isa::available() {
        for dtype in DTYPES {
            for (at, width) in [1, 7, 64, 129, 1000, 4096, 8192, 8193, 17_001].into_iter().enumerate() {
                for flags in 0..8 {
                    let (fused, round_normalised, round_sum) = (flags & 1 == 1, flags & 2 != 0, flags & 4 != 0);
                    if round_sum && !fused {
                        continue;
                    }
                    let rows = 7;
                    let of = |shift: usize| {
                        Numbers::new(dtype, (0..rows * width).map(|i| value(i / width, i % width + shift)))
                    };
                    let weight_dtype = if flags & 2 == 0 { dtype } else { DType::F32 };
                    let weight = Numbers::new(weight_dtype, (0..width).map(|i| 1.0 + noise(i + 5) / 3.0));
                    let case = Case {
                        input: of(0),
                        residual: fused.then(|| of(3)),
                        weight: (at % 3 != 2).then_some(weight),
                        rows,
                        width,
                        codes: [DType::F8E4M3, DType::I8, DType::F8E5M2][(at + flags) % 3],
                        format: if at % 2 == 0 { ScaleFormat::F32 } else { ScaleFormat::PowerOfTwo },
                        round_normalised,
                        round_sum,
                        eps: if at % 2 == 0 { 1e-6 } else { 0.0 },
                    };
                    let context = format!("{} {dtype} {width} flags {flags}", isa.name());
                    let pools = pools();
                    let (codes, scales, residual) = case.one_after_the_other(isa, &*pools[0]);
                    for pool in &pools[..2] {
                        let got = case.fused(isa, &**pool, false);
                        assert!(got.0 == codes, "{context}: codes");
                        assert!(
                            same_scales(&got.1, &scales, case.format),
                            "{context}: scales {:x?} {scales:x?}",
                            got.1
                        );
                        assert!(got.2 == residual, "{context}: residual");
                    }
                    if dtype == DType::F32 {
                        let got = case.fused(isa, &*pools[0], true);
                        assert!(got.0 == codes, "{context}: in f32 both modes are one");
                    } else if width >= 4096 && case.format == ScaleFormat::F32 && case.weight.is_some() {
                        // Without a weight, what was rounded before it is not rounded again.
                        let got = case.fused(isa, &*pools[0], true);
                        assert!(got.1 != scales, "{context}: the modes differ");
                    }
                }
            }
        }
    }
}

/// The same bits; a NaN of f32 may have any.
fn same_scales(a: &[u32], b: &[u32], format: ScaleFormat) -> bool {
    let nan = |bits: u32| format == ScaleFormat::F32 && f32::from_bits(bits).is_nan();
    a.iter().zip(b).all(|(&a, &b)| a == b || (nan(a) && nan(b)))
}

/// Without the norm's last rounding there is nothing to compose: scales, codes and residual by the formula.
#[test]
fn unrounded_is_the_formula_with_the_roundings_of_its_mode() {
    for isa in Isa::available() {
        for dtype in [DType::F16, DType::BF16] {
            for (width, flags) in [200, 9001].into_iter().flat_map(|width| (0..8).map(move |flags| (width, flags))) {
                let (fused, round_normalised, round_sum) = (flags & 1 == 1, flags & 2 != 0, flags & 4 != 0);
                if round_sum && !fused {
                    continue;
                }
                let rows = 3;
                let of = |seed: usize| Numbers::new(dtype, (0..rows * width).map(|i| 3.0 * noise(i + seed)));
                let weight = Numbers::new(dtype, (0..width).map(|i| 1.0 + noise(i + 5) / 3.0));
                let case = Case {
                    input: of(0),
                    residual: fused.then(|| of(1 << 20)),
                    weight: Some(weight.clone()),
                    rows,
                    width,
                    codes: DType::F8E4M3,
                    format: ScaleFormat::F32,
                    round_normalised,
                    round_sum,
                    eps: 1e-6,
                };
                let context = format!("{} {dtype} {width} flags {flags}", isa.name());
                let (codes, scales, kept) = case.fused(isa, &Serial, true);
                let rounded = |values: Vec<f32>| Numbers::new(dtype, values);
                let sums = match &case.residual {
                    None => case.input.values.clone(),
                    Some(residual) => {
                        let sums: Vec<f32> =
                            case.input.values.iter().zip(&residual.values).map(|(a, b)| a + b).collect();
                        let sum = rounded(sums.clone());
                        assert!(kept == sum.bits(), "{context}: residual");
                        if round_sum { sum.values } else { sums }
                    }
                };
                for (row, sums) in sums.chunks(width).enumerate() {
                    let squares: f64 = sums.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
                    let inverse = (1.0 / (squares / width as f64 + case.eps).sqrt()) as f32;
                    let norm: Vec<f32> = sums.iter().map(|v| v * inverse).collect();
                    let norm = if round_normalised { rounded(norm).values } else { norm };
                    let values: Vec<f32> = norm.iter().zip(&weight.values).map(|(v, w)| v * w).collect();
                    let expected = values.iter().fold(0.0, |most: f32, v| most.max(v.abs())) / 448.0;
                    let scale = f32::from_bits(scales[row]);
                    assert!((scale / expected - 1.0).abs() < 1e-6, "{context} row {row}: {scale}, not {expected}");
                    for (column, value) in values.iter().enumerate() {
                        let (q, code) = (value / scale, F8E4M3::from_bits(codes[row * width + column]).to_f32());
                        // Half of the distance between codes, and what f32 may have decided otherwise next to a tie.
                        let half = (q.abs() / 16.0).max(1.0 / 1024.0) * 1.0001;
                        assert!((code - q).abs() <= half, "{context} row {row} column {column}: {code} for {q}");
                    }
                }
            }
        }
    }
}
