// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `top_k_top_p_sampling` against the reference, token for token: ties, the ends of every parameter, both orders and places, broken
//! rows, every end of a vector and of a block, and all 64 bits of seeds and offsets.

use half::{bf16, f16};
use opweave_contract::ops::sampling::{FilterOrder, TemperatureAt};
use opweave_cpu::Rows;
use opweave_cpu::sampling::{DrawCall, Parameters, draw};
use opweave_cpu::simd::{Elem, Isa};
use opweave_device::cpu::Serial;
use opweave_reference::ops::sampling::top_k_top_p_sampling::{Draw, row, uniform};
use opweave_tensor::DType;

/// What one row is drawn with.
#[derive(Clone, Copy, Debug)]
struct By {
    top_k: i32,
    top_p: f32,
    temperature: f32,
    seed: u64,
    offset: u64,
}

const PLAIN: By = By { top_k: 0, top_p: 1.0, temperature: 1.0, seed: 1, offset: 0 };

const RULES: [(FilterOrder, TemperatureAt); 4] = [
    (FilterOrder::KThenP, TemperatureAt::BeforeFilters),
    (FilterOrder::Joint, TemperatureAt::BeforeFilters),
    (FilterOrder::KThenP, TemperatureAt::AfterFilters),
    (FilterOrder::Joint, TemperatureAt::AfterFilters),
];

/// The token of one row.
fn token<T: Elem>(isa: Isa, (order, at): (FilterOrder, TemperatureAt), logits: &[T], by: By) -> usize {
    let mut out = [u32::MAX; 1];
    let call = DrawCall {
        rows: 1,
        width: logits.len(),
        dtype: T::DTYPE,
        logits: Rows { data: logits.as_ptr().cast_mut().cast(), stride: logits.len() as isize },
        parameters: Parameters {
            top_k: &raw const by.top_k,
            top_p: &raw const by.top_p,
            temperature: &raw const by.temperature,
            seeds: &raw const by.seed,
            offsets: &raw const by.offset,
        },
        out: out.as_mut_ptr().cast(),
        index: DType::U32,
        joint: order == FilterOrder::Joint,
        filters_first: at == TemperatureAt::AfterFilters,
    };
    // SAFETY: one row of the stated dtype and width, one of each parameter, one index; only `out` is written.
    unsafe { draw(isa, &Serial, &call) };
    out[0] as usize
}

/// Compares a row with the reference on every instruction set, by every rule.
fn agree<T: Elem>(logits: &[T], by: By) {
    let exact: Vec<f64> = logits.iter().map(|v| v.to_f64()).collect();
    for rule in RULES {
        let drawn = Draw {
            top_k: by.top_k.into(),
            top_p: by.top_p.into(),
            temperature: by.temperature.into(),
            uniform: uniform(by.seed, by.offset),
        };
        let wanted = row(rule.0, rule.1, drawn, &exact);
        for isa in Isa::available() {
            let width = logits.len();
            let name = format!("{} {:?} {rule:?} {by:?}, width {width}", isa.name(), T::DTYPE);
            assert_eq!(token(isa, rule, logits, by), wanted, "{name}");
        }
    }
}

/// The same in every dtype, with numbers that all of them have.
fn agree_in_all(logits: &[f32], by: By) {
    agree(logits, by);
    agree(&logits.iter().map(|v| f16::from_f32(*v)).collect::<Vec<_>>(), by);
    agree(&logits.iter().map(|v| bf16::from_f32(*v)).collect::<Vec<_>>(), by);
}

/// Seeds and offsets with bits in both halves, some of which differ in the upper half alone.
fn seeds() -> impl Iterator<Item = (u64, u64)> {
    (0..24_u64).map(|n| (((n % 5) << 33) | (n * 7919), ((n % 3) << 34) | (n % 4)))
}

/// Eighths between -4 and 4, in no order, many of them twice.
fn mixed(width: usize) -> Vec<f32> {
    (0..width).map(|i| ((i * 37 + i * i % 11) % 64) as f32 / 8.0 - 4.0).collect()
}

#[test]
fn tokens_are_those_of_the_reference_at_every_end_of_a_vector_and_a_block() {
    for width in [1, 2, 3, 15, 16, 17, 33, 64, 511, 512, 513, 700, 1025] {
        let logits = mixed(width);
        for (n, (seed, offset)) in seeds().enumerate() {
            let (top_k, top_p) = ([0, 1, 5, -1, 40, 2, i32::MAX][n % 7], [1.0, 0.9, 0.5, 0.0, 0.999][n % 5]);
            let temperature = [1.0, 0.7, 0.0, 1.5][n % 4];
            agree_in_all(&logits, By { top_k, top_p, temperature, seed, offset });
        }
    }
}

/// All weights are 1, so that every sum is exact: k and p are reached on the spot, and of equals the first are kept.
#[test]
fn equal_logits_are_kept_from_the_first_on_and_as_few_as_reach() {
    for width in [4, 96, 600] {
        // Both zeros are one key.
        for logits in [vec![2.5; width], (0..width).map(|i| [0.0, -0.0][i % 2]).collect()] {
            for (seed, offset) in seeds() {
                for (top_k, top_p) in
                    [(0, 0.5), (0, 0.25), (2, 1.0), (2, 0.5), (3, 0.75), (width as i32, 1.0), (0, 0.0)]
                {
                    agree_in_all(&logits, By { top_k, top_p, seed, offset, ..PLAIN });
                }
            }
        }
    }
}

/// At a temperature beyond all differences every weight is 1 whatever its key: a share that ends with a key ends there.
#[test]
fn a_share_that_ends_with_a_key_takes_none_of_the_next() {
    for width in [8, 64, 520] {
        let logits: Vec<f32> = (0..width).map(|i| ((i * 5 + 3) % width) as f32 - 7.0).collect();
        for (seed, offset) in seeds() {
            for top_p in [0.125, 0.25, 0.5, 0.75, 0.875] {
                agree_in_all(&logits, By { top_p, temperature: 1e30, seed, offset, ..PLAIN });
            }
        }
    }
}

/// Keys that differ in each of their four digits, and ties at the last of them.
#[test]
fn keys_are_told_apart_by_every_digit() {
    let near = |i: usize| f32::from_bits(1.0_f32.to_bits() + [0, 1, 1, 255, 256, 256, 65_536, 65_536, 1 << 22][i % 9]);
    let logits: Vec<f32> = (0..90).map(|i| if i % 2 == 0 { near(i) } else { -near(i) }).collect();
    for (seed, offset) in seeds() {
        for top_k in 1..30 {
            agree(&logits, By { top_k, seed, offset, ..PLAIN });
        }
        for top_p in [0.05, 0.2, 0.45, 0.7, 0.95] {
            agree(&logits, By { top_p, seed, offset, ..PLAIN });
        }
    }
}

/// A row without a number, or with an infinity, has a token all the same.
#[test]
fn broken_rows_have_the_token_of_the_reference() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let kinds: [&[f32]; 8] = [
        &[nan],
        &[-nan, 1.0, 0.0],
        &[-inf],
        &[inf, 0.0, inf, nan],
        &[-inf, 2.0, nan],
        &[nan, -inf],
        &[65504.0, -65504.0, 0.0],
        &[nan, 0.5, 0.25, nan, 0.125],
    ];
    for kind in kinds {
        for width in [5, 150, 700] {
            let logits: Vec<f32> = (0..width).map(|i| kind[i % kind.len()]).collect();
            for (n, (seed, offset)) in seeds().enumerate() {
                let (top_k, top_p) = ([0, 3, 40][n % 3], [1.0, 0.9, 0.3][n / 3 % 3]);
                agree_in_all(&logits, By { top_k, top_p, temperature: [1.0, 0.5][n % 2], seed, offset });
            }
        }
    }
}

#[test]
fn parameters_outside_their_sets_give_token_0() {
    let logits = [0.0_f32, 1.0, 5.0, 2.0];
    for isa in Isa::available() {
        for by in [
            By { top_k: -2, ..PLAIN },
            By { top_p: f32::NAN, ..PLAIN },
            By { top_p: 1.000_000_1, ..PLAIN },
            By { top_p: -1e-30, ..PLAIN },
            By { temperature: f32::INFINITY, ..PLAIN },
            By { temperature: f32::NAN, ..PLAIN },
            By { temperature: -0.5, ..PLAIN },
        ] {
            assert_eq!(token(isa, RULES[0], &logits, by), 0, "{} {by:?}", isa.name());
        }
    }
}
