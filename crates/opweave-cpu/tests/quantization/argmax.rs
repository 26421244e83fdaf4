// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Indices against a plain loop: ties, NaN, padding, threads.

use opweave_cpu::sampling::{ArgmaxCall, argmax};
use opweave_cpu::simd::Isa;
use opweave_device::cpu::{Parallel, Serial};
use opweave_tensor::DType;

use crate::support::{DTYPES, Numbers, noise, pools};

const GUARD: i64 = -77;

fn run(
    isa: Isa,
    pool: &dyn Parallel,
    logits: &Numbers,
    rows: usize,
    stride: usize,
    width: usize,
    nan_first: bool,
) -> Vec<i64> {
    let mut out = vec![GUARD; rows + 1];
    let call = ArgmaxCall {
        rows,
        width,
        dtype: logits.dtype,
        logits: logits.rows(0, stride),
        out: out.as_mut_ptr().cast(),
        index: DType::I64,
        nan_first,
    };
    // SAFETY: `rows` rows of `stride` elements, and as many indices.
    unsafe { argmax(isa, pool, &call) };
    assert_eq!(out.pop(), Some(GUARD));
    out
}

/// The definition.
fn expected(row: &[f32], nan_first: bool) -> i64 {
    if nan_first && let Some(first) = row.iter().position(|v| v.is_nan()) {
        return first as i64;
    }
    let most = row.iter().copied().filter(|v| !v.is_nan()).reduce(|a, b| if b > a { b } else { a });
    most.map_or(0, |most| row.iter().position(|&v| v == most).unwrap() as i64)
}

#[test]
fn ties_go_to_the_smaller_index_and_padding_is_never_chosen() {
    const NAN: f32 = f32::NAN;
    const INF: f32 = f32::INFINITY;
    // Three of four columns are valid; the fourth is NaN, or larger than all.
    let rows: [([f32; 4], i64, i64); 8] = [
        ([1.0, 5.0, 5.0, 9.0], 1, 1),
        ([NAN, NAN, NAN, 9.0], 0, 0),
        ([NAN, 1.0, 0.0, NAN], 1, 0),
        ([-INF, -INF, -INF, INF], 0, 0),
        ([INF, INF, 0.0, NAN], 0, 0),
        ([NAN, -INF, NAN, 3.0], 1, 0),
        ([-0.0, 0.0, -1.0, 1.0], 0, 0),
        ([0.0, 1.0, NAN, 7.0], 1, 2),
    ];
    for isa in Isa::available() {
        for dtype in DTYPES {
            let logits = Numbers::new(dtype, rows.iter().flat_map(|row| row.0));
            let last: Vec<i64> = rows.iter().map(|row| row.1).collect();
            let first: Vec<i64> = rows.iter().map(|row| row.2).collect();
            assert_eq!(run(isa, &Serial, &logits, 8, 4, 3, false), last, "{} {dtype}", isa.name());
            assert_eq!(run(isa, &Serial, &logits, 8, 4, 3, true), first, "{} {dtype}", isa.name());
        }
    }
}

#[test]
fn every_width_and_place_is_found() {
    for isa in Isa::available() {
        for dtype in DTYPES {
            for width in (1..70).chain([2047, 2048, 2049, 4096, 4133]) {
                for place in [0, 1, width / 2, width - 1] {
                    let place = place.min(width - 1);
                    // All below zero, and a larger one past the row's end.
                    let value = |i: usize| match i {
                        i if i == place => -1.0,
                        i if i >= width => 50.0,
                        i => -2.0 - noise(i).abs(),
                    };
                    let logits = Numbers::new(dtype, (0..width + 40).map(value));
                    let found = run(isa, &Serial, &logits, 1, width + 40, width, false);
                    assert_eq!(found, [place as i64], "{} {dtype} {width}", isa.name());
                }
            }
        }
    }
}

/// Fewer rows than threads, wide enough to be cut; few distinct values, so that every part has the row's largest.
#[test]
fn rows_cut_for_threads_give_the_same_index() {
    let width = 700_001;
    for isa in Isa::available() {
        for dtype in [DType::F32, DType::BF16] {
            for rows in [1, 2, 5] {
                for nan_first in [false, true] {
                    let value = |i: usize| {
                        let (row, column) = (i / width, i % width);
                        match row {
                            1 if column > 300_000 && column.is_multiple_of(100_003) => f32::NAN,
                            2 => f32::NAN,
                            3 => {
                                if column == width - 1 {
                                    f32::NEG_INFINITY
                                } else {
                                    f32::NAN
                                }
                            }
                            4 => f32::NEG_INFINITY,
                            _ => (noise(i) * 3.0).round(),
                        }
                    };
                    let logits = Numbers::new(dtype, (0..rows * width).map(value));
                    let wanted: Vec<i64> = logits.values.chunks(width).map(|row| expected(row, nan_first)).collect();
                    for pool in pools() {
                        let found = run(isa, &*pool, &logits, rows, width, width, nan_first);
                        assert_eq!(found, wanted, "{} {dtype} x{}", isa.name(), pool.threads());
                    }
                }
            }
        }
    }
}

#[test]
fn random_rows_agree_with_a_plain_loop() {
    for isa in Isa::available() {
        for dtype in DTYPES {
            for (rows, width) in [(40, 333), (200, 77), (3, 5000)] {
                for nan_first in [false, true] {
                    let value = |i: usize| match (i * 7919) % 613 {
                        0 => f32::NAN,
                        1 => f32::INFINITY,
                        2 => f32::NEG_INFINITY,
                        _ => noise(i) * 4.0,
                    };
                    let logits = Numbers::new(dtype, (0..rows * width).map(value));
                    let wanted: Vec<i64> = logits.values.chunks(width).map(|row| expected(row, nan_first)).collect();
                    let found = run(isa, &*pools()[2], &logits, rows, width, width, nan_first);
                    assert_eq!(found, wanted, "{} {dtype} {rows}x{width}", isa.name());
                }
            }
        }
    }
}

/// Indices of each dtype, side by side and nothing behind them.
#[test]
fn indices_have_the_dtype_that_was_asked_for() {
    let (width, places) = (70_001, [65_535, 70_000, 0, 66_000, 1]);
    let logits = Numbers::new(DType::F16, (0..5 * width).map(|i| f32::from(i % width == places[i / width])));
    for (index, bytes) in [(DType::I32, 4), (DType::U32, 4), (DType::I64, 8)] {
        for pool in pools() {
            let mut out = [u64::MAX; 6];
            let call = ArgmaxCall {
                rows: 5,
                width,
                dtype: DType::F16,
                logits: logits.rows(0, width),
                out: out.as_mut_ptr().cast(),
                index,
                nan_first: false,
            };
            // SAFETY: five rows, and room for more than five indices.
            unsafe { argmax(Isa::best(), &*pool, &call) };
            let all: Vec<u8> = out.into_iter().flat_map(u64::to_le_bytes).collect();
            let (indices, rest) = all.split_at(5 * bytes);
            let expected = places.iter().flat_map(|&place| place.to_le_bytes()[..bytes].to_vec());
            assert!(indices.iter().copied().eq(expected), "{index} x{}: {indices:?}", pool.threads());
            assert!(rest.iter().all(|&byte| byte == 0xff), "{index} x{}: {rest:?}", pool.threads());
        }
    }
}
