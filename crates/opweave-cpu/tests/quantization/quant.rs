// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Codes and scales, bit for bit: the divisions of f32, and a search for the nearest code.

use opweave_contract::ops::quantization::{ScaleFormat, largest_code};
use opweave_cpu::Rows;
use opweave_cpu::quantization::{DynamicCall, FixedCall, ScaleRule, dynamic_quant, quantize};
use opweave_cpu::simd::{Elem, Isa, last_level_cache};
use opweave_device::cpu::{Parallel, Serial};
use opweave_tensor::{DType, F8E4M3, F8E5M2};

use crate::support::{DTYPES, Numbers, noise, pools};

const CODES: [DType; 3] = [DType::F8E4M3, DType::F8E5M2, DType::I8];

fn number(codes: DType, bits: u8) -> f32 {
    match codes {
        DType::F8E4M3 => F8E4M3::from_bits(bits).to_f32(),
        DType::F8E5M2 => F8E5M2::from_bits(bits).to_f32(),
        _ => f32::from(bits as i8),
    }
}

fn nan_code(codes: DType) -> u8 {
    match codes {
        DType::F8E4M3 => F8E4M3::NAN.to_bits(),
        DType::F8E5M2 => F8E5M2::NAN.to_bits(),
        _ => 0,
    }
}

/// The nearest finite code; of two the even one; of the two zeros that of the sign.
fn nearest(codes: DType, value: f32) -> u8 {
    if value.is_nan() {
        return nan_code(codes);
    }
    let finite = (0..=u8::MAX).filter(|&bits| number(codes, bits).is_finite());
    let most = finite.clone().map(|bits| number(codes, bits)).fold(0.0, f32::max);
    let least = finite.clone().map(|bits| number(codes, bits)).fold(0.0, f32::min);
    let value = f64::from(value.clamp(least, most));
    let key = |bits: u8| {
        let other_sign =
            number(codes, bits) == 0.0 && (bits >> 7 == 1) != value.is_sign_negative() && codes != DType::I8;
        ((f64::from(number(codes, bits)) - value).abs(), u8::from(other_sign), bits % 2)
    };
    finite.min_by(|&a, &b| key(a).partial_cmp(&key(b)).unwrap()).unwrap()
}

struct Case {
    input: Numbers,
    rows: usize,
    width: usize,
    codes: DType,
    rule: ScaleRule,
    i8_range: usize,
}

impl Case {
    fn new(dtype: DType, codes: DType, rows: usize, width: usize, value: impl Fn(usize, usize) -> f32) -> Case {
        let input = Numbers::new(dtype, (0..rows * width).map(|i| value(i / width, i % width)));
        let rule = ScaleRule { largest_code: largest_code(codes), floor: 0.0, format: ScaleFormat::F32 };
        Case { input, rows, width, codes, rule, i8_range: 127 }
    }

    /// Codes and the bits of scales.
    fn dynamic(&self, isa: Isa, pool: &dyn Parallel) -> (Vec<u8>, Vec<u32>) {
        let (mut out, mut scale) = (vec![0xa5_u8; self.rows * self.width], vec![7_u32; self.rows]);
        let call = DynamicCall {
            rows: self.rows,
            width: self.width,
            dtype: self.input.dtype,
            codes: self.codes,
            input: self.input.rows(0, self.width),
            out: Rows { data: out.as_mut_ptr(), stride: self.width as isize },
            scale: scale.as_mut_ptr().cast(),
            rule: self.rule,
            i8_range: self.i8_range,
        };
        // SAFETY: vectors of `rows * width` elements and `rows` scales, of the dtypes that the call states.
        unsafe { dynamic_quant(isa, pool, &call) };
        (out, scale)
    }

    fn row(&self, row: usize) -> &[f32] {
        &self.input.values[row * self.width..(row + 1) * self.width]
    }
}

#[test]
fn scales_and_codes_are_those_of_plain_divisions() {
    for isa in Isa::available() {
        for dtype in DTYPES {
            for codes in CODES {
                for width in [1, 5, 31, 64, 65, 131, 517] {
                    let case = Case::new(dtype, codes, 5, width, |r, c| noise(r * 1000 + c) * 3.0_f32.powi(r as i32));
                    let (out, scales) = case.dynamic(isa, &Serial);
                    for (row, &bits) in scales.iter().enumerate() {
                        let context = format!("{} {dtype} {codes} {width} row {row}", isa.name());
                        let largest = case.row(row).iter().fold(0.0, |most: f32, v| most.max(v.abs()));
                        let scale = largest / largest_code(codes);
                        assert_eq!(f32::from_bits(bits), scale, "{context}");
                        for (column, &value) in case.row(row).iter().enumerate() {
                            let expected = nearest(codes, value / scale);
                            assert_eq!(out[row * width + column], expected, "{context} column {column}: {value}");
                        }
                    }
                }
            }
        }
    }
}

/// Zeros; one number of 1e-30; a NaN; an infinity; magnitudes whose scale would be zero.
#[test]
fn degenerate_rows_come_out_as_the_contract_says() {
    let rows: [[f32; 4]; 6] = [
        [0.0; 4],
        [1e-30, 0.0, 0.0, 0.0],
        [f32::NAN, 1.0, 2.0, 3.0],
        [f32::INFINITY, 1.0, 1.0, 1.0],
        [f32::from_bits(60), 0.0, -f32::from_bits(1), -0.0],
        [-f32::INFINITY, f32::NAN, 0.0, 1.0],
    ];
    for isa in Isa::available() {
        for codes in CODES {
            let case = Case::new(DType::F32, codes, 6, 4, |r, c| rows[r][c]);
            let (out, scales) = case.dynamic(isa, &Serial);
            let (nan, scale) = (nan_code(codes), |row: usize| f32::from_bits(scales[row]));
            let context = format!("{} {codes}", isa.name());
            assert_eq!((&out[..4], scale(0)), (&[0_u8; 4][..], 1.0), "{context}");
            assert_eq!(scale(1), 1e-30 / largest_code(codes), "{context}");
            assert_eq!(number(codes, out[4]), largest_code(codes), "{context}");
            assert_eq!(out[5..8], [0; 3], "{context}");
            assert!(scale(2).is_nan() && scale(3).is_nan() && scale(5).is_nan(), "{context}");
            assert_eq!((&out[8..16], &out[20..]), (&[nan; 8][..], &[nan; 4][..]), "{context}");
            // A scale that would round to zero is the smallest number, and codes are right under it.
            assert_eq!(scale(4), f32::from_bits(1), "{context}");
            assert_eq!(number(codes, out[16]), number(codes, nearest(codes, 60.0)), "{context}");
            assert_eq!((number(codes, out[18]), number(codes, out[19])), (-1.0, 0.0), "{context}");
        }
    }
}

/// Row `r` has what is looked for in column `r`: in every lane of every vector, and after the last one.
#[test]
fn the_largest_magnitude_is_found_wherever_it_is() {
    for isa in Isa::available() {
        for dtype in DTYPES {
            for width in [1, 7, 16, 33, 64, 130, 291] {
                for special in [-7.0, f32::NAN, -f32::NAN, f32::NEG_INFINITY] {
                    let value = |r: usize, c: usize| if r == c { special } else { noise(r * 1000 + c) };
                    let case = Case::new(dtype, DType::F8E4M3, width, width, value);
                    let (_, scales) = case.dynamic(isa, &Serial);
                    for (row, scale) in scales.into_iter().map(f32::from_bits).enumerate() {
                        let context = format!("{} {dtype} {special} in column {row} of {width}", isa.name());
                        if special.is_finite() {
                            assert_eq!(scale, 7.0 / largest_code(DType::F8E4M3), "{context}");
                        } else {
                            assert!(scale.is_nan(), "{context}: {scale}");
                        }
                    }
                }
            }
        }
    }
}

/// A scale among the last subnormals is rounded so far down that quotients are beyond the codes.
#[test]
fn i8_codes_end_where_their_range_does() {
    for isa in Isa::available() {
        for i8_range in [127, 128] {
            let of = |numbers: [f32; 2]| {
                let case = Case::new(DType::F32, DType::I8, 1, 107, |_, c| numbers[c % 2]);
                Case { i8_range, ..case }
            };
            let ends = |codes: &[u8]| {
                let found = |code: u8, c: usize| code as i8 == [-(i8_range as i32) as i8, 127][c % 2];
                codes.iter().enumerate().all(|(c, &code)| found(code, c))
            };
            let tiny = f32::from_bits(180);
            let (out, scales) = of([-tiny, tiny]).dynamic(isa, &Serial);
            assert_eq!(scales, [1], "{} {i8_range}", isa.name());
            assert!(ends(&out), "{} {i8_range}: {out:?}", isa.name());
            for zero_point in [None, Some(0), Some(-3), Some(127)] {
                let out = fixed(&of([-1000.0, 1000.0]), isa, &Serial, 0.5, zero_point, 0);
                assert!(ends(&out), "{} {i8_range} {zero_point:?}: {out:?}", isa.name());
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    for isa in Isa::available() {
        for codes in CODES {
            let case = Case::new(DType::BF16, codes, 333, 2051, |r, c| noise(r * 4096 + c) * (r + 1) as f32);
            let mut all = pools().into_iter().map(|pool| case.dynamic(isa, &*pool));
            let first = all.next().unwrap();
            assert!(all.all(|other| other == first), "{} {codes}", isa.name());
        }
    }
}

/// More codes than the last-level cache holds go past it, some rows aligned and some not.
#[test]
fn codes_past_the_caches_are_the_same() {
    let width = 4096 + 48;
    let rows = last_level_cache() / width + 1;
    // Of some rows the largest number is in the first vector, of some behind the last whole line.
    let value = |r: usize, c: usize| {
        let scale = match (r, c) {
            (0, 0) | (1, 4090) | (2, 4130) | (3, 4143) => 3.0,
            _ => 1.0,
        };
        scale * noise(r * width + c)
    };
    for isa in Isa::available() {
        for codes in [DType::F8E4M3, DType::I8] {
            let some = |rows| Case::new(DType::BF16, codes, rows, width, |r, c| value(r % 5, c));
            let (few, many) = (some(5).dynamic(isa, &Serial), some(rows).dynamic(isa, &*pools()[1]));
            for row in 0..rows {
                let (here, there) = (row * width, row % 5 * width);
                assert_eq!(many.1[row], few.1[row % 5], "{} {codes} row {row}", isa.name());
                assert!(many.0[here..here + width] == few.0[there..there + width], "{} {codes} row {row}", isa.name());
            }
        }
    }
}

fn fixed(case: &Case, isa: Isa, pool: &dyn Parallel, scale: f32, zero_point: Option<i32>, gap: usize) -> Vec<u8> {
    let stride = case.width + gap;
    let mut out = vec![0xa5_u8; case.rows * stride];
    let call = FixedCall {
        rows: case.rows,
        width: case.width,
        dtype: case.input.dtype,
        codes: case.codes,
        input: case.input.rows(0, case.width),
        out: Rows { data: out.as_mut_ptr(), stride: stride as isize },
        scale,
        zero_point,
        i8_range: case.i8_range,
    };
    // SAFETY: vectors of `rows` rows of `width` elements, of the dtypes that the call states.
    unsafe { quantize(isa, pool, &call) };
    out
}

#[test]
fn one_scale_for_all_rows_is_a_plain_division_with_gaps_and_without() {
    // Rows wide enough for several blocks, and narrow ones.
    for (rows, width) in [(3, 40_001), (7, 33)] {
        for isa in Isa::available() {
            for codes in CODES {
                let case = Case::new(DType::F16, codes, rows, width, |r, c| 40.0 * noise(r * width + c));
                let together = fixed(&case, isa, &Serial, 0.37, None, 0);
                for (at, (&value, &code)) in case.input.values.iter().zip(&together).enumerate().step_by(17) {
                    assert_eq!(code, nearest(codes, value / 0.37), "{} {codes} element {at}", isa.name());
                }
                for pool in pools() {
                    let apart = fixed(&case, isa, &*pool, 0.37, None, 5);
                    for (a, t) in apart.chunks(width + 5).zip(together.chunks(width)) {
                        assert!(a[..width] == *t && a[width..] == [0xa5; 5], "{} {codes}", isa.name());
                    }
                }
            }
        }
    }
}

#[test]
fn a_zero_point_is_added_to_the_rounded_quotient() {
    for isa in Isa::available() {
        let case = Case::new(DType::F32, DType::I8, 2, 67, |r, c| [0.5, 1e30][r] * (c as f32 - 33.0));
        let case = Case { i8_range: 128, ..case };
        let out = fixed(&case, isa, &Serial, 1.0, Some(5), 0);
        for (&value, &code) in case.input.values.iter().zip(&out) {
            let expected = (f64::from(value).round_ties_even() + 5.0).clamp(-128.0, 127.0);
            assert_eq!(f64::from(code as i8), expected, "{} {value}", isa.name());
        }
        let odd = Case::new(DType::F32, DType::I8, 1, 3, |_, c| [f32::NAN, f32::INFINITY, -f32::INFINITY][c]);
        let odd = Case { i8_range: 128, ..odd };
        assert_eq!(fixed(&odd, isa, &Serial, 1.0, Some(5), 0), [0, 127, 128]);
        for (scale, zero_point) in [(0.0, None), (-1.0, None), (f32::NAN, None), (1.0, Some(128)), (1.0, Some(-129))] {
            assert!(fixed(&case, isa, &Serial, scale, zero_point, 0).iter().all(|&code| code == 0), "{scale}");
        }
    }
}

/// The code of a number under a scale, as the contract has it: the quotient is rounded to f32, and then to the code.
fn code_of(codes: DType, value: f32, scale: f32) -> u8 {
    let quotient = f64::from(value / scale);
    match codes {
        DType::F8E4M3 => F8E4M3::from_f64(quotient).to_bits(),
        DType::F8E5M2 => F8E5M2::from_f64(quotient).to_bits(),
        _ => i8::from_f64(quotient).max(-127) as u8,
    }
}

fn scales_of_every_kind(count: u32) -> impl Iterator<Item = f32> {
    let bits = (0..count).map(|i| match i % 4 {
        // Within a few units of a number of eight bits.
        0 => f32::from_bits(0x3c00_0000 + ((i * 7919) % 4096) * 0x1_0000)
            .to_bits()
            .wrapping_add(i % 160)
            .wrapping_sub(80),
        1 => (noise(i as usize).abs() + 0.01).to_bits(),
        2 => (1.0 / (i + 1) as f32).to_bits(),
        _ => (f32::from(u16::try_from(i + 1).unwrap()) / 448.0).to_bits(),
    });
    bits.map(f32::from_bits)
}

/// The code of i8 with a zero point, as the contract has it.
fn moved(value: f32, scale: f32, zero_point: i32, i8_range: usize) -> u8 {
    let quotient = f64::from(value / scale);
    let moved = (quotient.round_ties_even() + f64::from(zero_point)).clamp(-(i8_range as f64), 127.0);
    if quotient.is_nan() { 0 } else { moved as i8 as u8 }
}

/// Zero points and ranges; a point of 0 is the same as none.
const POINTS: [(Option<i32>, usize); 6] =
    [(None, 128), (None, 127), (Some(-128), 128), (Some(-3), 127), (Some(90), 128), (Some(127), 127)];

/// The codes of a case under one scale, on every instruction set, against those that `of` gives.
fn check_fixed(case: &Case, scale: f32, zero_point: Option<i32>, of: impl Fn(f32) -> u8) {
    let expected: Vec<u8> = case.input.values.iter().map(|&value| of(value)).collect();
    for isa in Isa::available() {
        let got = fixed(case, isa, &Serial, scale, zero_point, 0);
        let wrong = got.iter().zip(&expected).position(|(a, b)| a != b).map(|i| case.input.values[i]);
        let Case { codes, i8_range, input, .. } = case;
        assert_eq!(wrong, None, "{} {} {codes} {scale:e} {zero_point:?} {i8_range}", isa.name(), input.dtype);
    }
}

/// The same for i8 under every zero point.
fn check_moved(dtype: DType, scale: f32, rows: usize, width: usize, value: impl Fn(usize, usize) -> f32) {
    for (zero_point, i8_range) in POINTS {
        let case = Case { i8_range, ..Case::new(dtype, DType::I8, rows, width, &value) };
        check_fixed(&case, scale, zero_point, |value| moved(value, scale, zero_point.unwrap_or(0), i8_range));
    }
}

/// Ties of i8 that a zero point brings within the codes, and quotients that it brings beyond their ends.
#[test]
fn moved_quotients_next_to_ties_have_the_code_of_the_division() {
    for scale in scales_of_every_kind(120) {
        let near = (-300..300_i32).flat_map(|k| {
            let x = ((f64::from(k) + 0.5) * f64::from(scale)) as f32;
            [x, x.next_up(), x.next_down(), 1000.0 * x]
        });
        let near: Vec<f32> = near.collect();
        for dtype in [DType::F16, DType::BF16] {
            check_moved(dtype, scale, 1, near.len(), |_, c| near[c]);
        }
    }
}

/// All 65 536 of f16 and of bf16 under a zero point.
#[test]
fn every_number_of_16_bits_is_moved_from_its_quotient() {
    let bits = |c: usize| (c as u16).wrapping_mul(40_503);
    for (dtype, number) in [
        (DType::F16, (|bits| half::f16::from_bits(bits).to_f32()) as fn(u16) -> f32),
        (DType::BF16, |bits| half::bf16::from_bits(bits).to_f32()),
    ] {
        for scale in [0.37, 3.0 / 448.0, 1e3] {
            // In their order, and in another that mixes numbers of all kinds.
            check_moved(dtype, scale, 2, 1 << 16, |r, c| number(if r == 0 { c as u16 } else { bits(c) }));
        }
    }
}

/// Multiplications stand in for divisions where that is proved to change no code: elements that were chosen to divide to a tie,
/// next to one, and half way to the next number, under scales of every kind, those next to few-bit numbers among them.
#[test]
fn quotients_next_to_ties_have_the_code_of_the_division() {
    for scale in scales_of_every_kind(600) {
        for codes in CODES {
            let near = ties(codes).into_iter().flat_map(|tie| {
                let x = (f64::from(tie) * f64::from(scale)) as f32;
                [x, x.next_up(), x.next_down(), x.next_up().next_up(), x.next_down().next_down()]
            });
            let near: Vec<f32> = near.collect();
            for dtype in DTYPES {
                let case = Case::new(dtype, codes, 1, near.len(), |_, c| near[c]);
                check_fixed(&case, scale, None, |value| code_of(codes, value, scale));
            }
        }
    }
}

/// The middles between neighbouring codes.
fn ties(codes: DType) -> Vec<f32> {
    let finite = (0..=255_u8).map(|bits| number(codes, bits)).filter(|number| number.is_finite());
    let mut sorted: Vec<f32> = finite.collect();
    sorted.sort_by(f32::total_cmp);
    sorted.windows(2).map(|w| (w[0] + w[1]) / 2.0).collect()
}

/// Lines of numbers that are all about as many units of f32 from a tie, and some in which one is next to one: a single product makes
/// the codes of a line unless it comes too near.
#[test]
fn single_products_have_the_code_of_the_division_at_every_distance_from_a_tie() {
    for scale in scales_of_every_kind(160) {
        for codes in [DType::F8E4M3, DType::F8E5M2] {
            let ties = ties(codes);
            let beside = |i: usize, units: u32| {
                let x = (f64::from(ties[i % ties.len()]) * f64::from(scale)) as f32;
                let step = if i.is_multiple_of(2) { f32::next_up } else { f32::next_down };
                (0..units).fold(x, |x, _| step(x))
            };
            let value = |row: usize, c: usize| {
                beside(c, if row == 12 { 40 * u32::from(!c.is_multiple_of(97)) } else { row as u32 })
            };
            let case = Case::new(DType::F32, codes, 13, 2 * ties.len() + 1, value);
            check_fixed(&case, scale, None, |value| code_of(codes, value, scale));
        }
    }
}

/// All 65 536 of f16 and of bf16, in their order, where lines have numbers of one kind, and in another that mixes them.
#[test]
fn every_number_of_16_bits_has_the_code_of_its_quotient() {
    let number = |dtype, bits: u16| match dtype {
        DType::F16 => half::f16::from_bits(bits).to_f32(),
        _ => half::bf16::from_bits(bits).to_f32(),
    };
    for dtype in [DType::F16, DType::BF16] {
        for step in [1, 40_503_u16] {
            for (codes, scale) in CODES.into_iter().flat_map(|codes| [1.0, 0.37, 3.0 / 448.0, 1e3].map(|s| (codes, s)))
            {
                let case = Case::new(dtype, codes, 1, 1 << 16, |_, c| number(dtype, (c as u16).wrapping_mul(step)));
                check_fixed(&case, scale, None, |value| code_of(codes, value, scale));
            }
        }
    }
}

/// The same under the scale of the row itself, whose largest element is chosen.
#[test]
fn dynamic_quotients_have_the_code_of_the_division() {
    for isa in Isa::available() {
        for dtype in DTYPES {
            for codes in CODES {
                for seed in 0..200 {
                    let most = 1.0 + noise(seed).abs();
                    // Few-bit parts of the largest element are where its own scale makes ties.
                    let value = |_: usize, c: usize| match c % 3 {
                        0 if c == 0 => most,
                        0 => most * (c / 3) as f32 / 128.0_f32.powi(1 + (c % 2) as i32),
                        1 => noise(c + seed * 1000),
                        _ => most * 0.5_f32.powi((c / 3 % 20) as i32),
                    };
                    let case = Case::new(dtype, codes, 1, 320, |r, c| value(r, c).clamp(-most, most));
                    let (got, scales) = case.dynamic(isa, &Serial);
                    let scale = f32::from_bits(scales[0]);
                    for (&value, &code) in case.input.values.iter().zip(&got) {
                        let context = || format!("{} {dtype} {codes} {value} / {scale:e}", isa.name());
                        assert_eq!(code, code_of(codes, value, scale), "{}", context());
                    }
                }
            }
        }
    }
}
