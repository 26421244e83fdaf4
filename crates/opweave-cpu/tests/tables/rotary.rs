// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rotary family: published values, positions outside the table, tensors packed into one buffer, threads.

use half::bf16;
use opweave_contract::ops::rotary::{
    FusedQkNormRope, FusedQkNormRopeArgs, FusedQkNormRopeProblem, POSITION_OUTSIDE_THE_CACHE, RotaryEmbedding,
    RotaryEmbeddingArgs, RotaryEmbeddingProblem, RotaryStyle, RotaryTable, build_cos_sin_cache,
};
use opweave_tensor::DType;

use crate::support::{bare, call, every_row, stream, strided, view};

fn problem(rotary_dim: usize, style: RotaryStyle, position_dtype: DType) -> RotaryEmbeddingProblem {
    let plain = RotaryEmbeddingProblem::new(1, 1, 4, rotary_dim, DType::F32);
    RotaryEmbeddingProblem { style, position_dtype, key_dtype: None, ..plain }
}

fn near(actual: &[f32], expected: &[f64], what: &str) {
    for (a, e) in actual.iter().zip(expected) {
        assert!((f64::from(*a) - e).abs() < 2e-6, "{what}: {actual:?}, not {expected:?}");
    }
}

/// Case A14: halves, neighbours, and a part of the head, each with values that tell them apart.
#[test]
fn a14_pairs_are_those_of_the_style_and_the_rest_stays() {
    let cases = [
        (4, RotaryStyle::Neox, [-1.984_111, 1.959_901, 2.462_378, 4.019_800]),
        (4, RotaryStyle::Interleaved, [-1.142_640, 1.922_076, 2.959_851, 4.029_800]),
        (2, RotaryStyle::Neox, [-1.142_640, 1.922_076, 3.0, 4.0]),
        (2, RotaryStyle::Interleaved, [-1.142_640, 1.922_076, 3.0, 4.0]),
    ];
    for (rotary_dim, style, expected) in cases {
        let mut table = build_cos_sin_cache::<f32>(&RotaryTable::new(rotary_dim, 2, 10_000.0)).unwrap();
        for (name, op) in every_row::<RotaryEmbedding>(problem(rotary_dim, style, DType::I32)) {
            let (mut q, mut positions) = ([1.0_f32, 2.0, 3.0, 4.0], [1_i32]);
            let args = RotaryEmbeddingArgs {
                positions: view(&mut positions, &[1]),
                q: view(&mut q, &[1, 1, 4]),
                k: None,
                cos_sin_cache: view(&mut table, &[2, rotary_dim]),
            };
            assert_eq!(call(&op, &args, &stream(1)), None);
            near(&q, &expected, &format!("{name} {style:?} {rotary_dim}"));
            assert!(rotary_dim == 4 || q[2..] == [3.0, 4.0], "{name}: what is not turned keeps its bits");
        }
    }
}

/// Case A15: positions at the end of the table and past it, as i32 and i64.
#[test]
fn a15_a_position_outside_leaves_its_row_alone_and_is_a_fault() {
    let mut table = build_cos_sin_cache::<f32>(&RotaryTable::new(4, 8, 10_000.0)).unwrap();
    let mut seven: Vec<Vec<u32>> = Vec::new();
    for dtype in [DType::I32, DType::I64] {
        let wrong: &[i64] = if dtype == DType::I32 {
            &[8, -1, i32::MAX as i64, i32::MIN as i64]
        } else {
            &[8, -1, 1 << 32, (1 << 32) + 7, i64::MAX, i64::MIN]
        };
        for (name, op) in every_row::<RotaryEmbedding>(problem(4, RotaryStyle::Neox, dtype)) {
            for &wrong in wrong {
                let mut q = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
                let (mut wide, mut narrow) = ([7, wrong], [7, wrong as i32]);
                let positions = if dtype == DType::I32 { view(&mut narrow, &[2]) } else { view(&mut wide, &[2]) };
                let args = RotaryEmbeddingArgs {
                    positions,
                    q: view(&mut q, &[2, 1, 4]),
                    k: None,
                    cos_sin_cache: view(&mut table, &[8, 4]),
                };
                let fault = bare(&op, &args, &stream(1)).unwrap();
                assert_eq!((fault.clause, fault.row), (POSITION_OUTSIDE_THE_CACHE, 1), "{name} {wrong}");
                assert_eq!(q, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], "{name}: nothing is written");
                assert_eq!(call(&op, &args, &stream(1)), Some((POSITION_OUTSIDE_THE_CACHE, 1)), "{name} {wrong}");
                assert_eq!(q[4..], [5.0, 6.0, 7.0, 8.0], "{name} {wrong}");
                let (c, s) = (7.0_f64.cos(), 7.0_f64.sin());
                near(&[q[0], q[2]], &[c - 3.0 * s, 3.0 * c + s], &name);
                if !name.contains("reference") {
                    seven.push(q[..4].iter().map(|v| v.to_bits()).collect());
                }
            }
        }
    }
    assert!(seven.windows(2).all(|w| w[0] == w[1]), "every row gives the same bits for i32 and i64");
}

#[test]
fn queries_and_keys_may_be_columns_of_one_packed_projection() {
    let (heads, keys, dim, tokens) = (3, 2, 6, 5);
    let width = (heads + 2 * keys) * dim;
    let mut table = build_cos_sin_cache::<f32>(&RotaryTable::new(6, 9, 10_000.0)).unwrap();
    let before: Vec<bf16> = (0..tokens * width).map(|i| bf16::from_f32((i as f32 * 0.37).sin())).collect();
    let mut results: Vec<Vec<bf16>> = Vec::new();
    for (name, op) in every_row::<RotaryEmbedding>(RotaryEmbeddingProblem::new(heads, keys, dim, 6, DType::BF16)) {
        let (mut qkv, mut positions) = (before.clone(), [8_i64, 0, 3, 3, 1]);
        let strides = [width as isize, dim as isize, 1];
        let q = strided(&mut qkv, 0, &[tokens, heads, dim], &strides);
        let k = strided(&mut qkv, heads * dim, &[tokens, keys, dim], &strides);
        let cos_sin_cache = view(&mut table, &[9, 6]);
        let args = RotaryEmbeddingArgs { positions: view(&mut positions, &[tokens]), q, k: Some(k), cos_sin_cache };
        assert_eq!(call(&op, &args, &stream(1)), None, "{name}");
        for token in 0..tokens {
            let values = token * width + (heads + keys) * dim..(token + 1) * width;
            assert_eq!(qkv[values.clone()], before[values], "{name}: values stay");
        }
        assert_ne!(qkv[..width], before[..width]);
        assert_eq!(qkv[width..width + dim], before[width..width + dim], "{name}: position 0 turns nothing");
        results.push(qkv);
    }
    assert!(results.windows(2).all(|w| w[0] == w[1]), "rows agree");
}

#[test]
fn the_fused_operator_is_the_norm_and_the_turn_and_leaves_values_alone() {
    // One head of four equal numbers has norm 1 in every feature; position 1 then turns the weights.
    let mut table = build_cos_sin_cache::<f32>(&RotaryTable::new(4, 2, 10_000.0)).unwrap();
    for (name, op) in every_row::<FusedQkNormRope>(FusedQkNormRopeProblem::new(1, 1, 4, 4, DType::F32)) {
        let mut qkv = [5.0_f32, 5.0, 5.0, 5.0, -3.0, -3.0, -3.0, -3.0, 7.0, 8.0, 9.0, f32::NAN];
        let (mut q_weight, mut k_weight, mut positions) = ([1.0_f32, 2.0, 3.0, 4.0], [2.0_f32, 4.0, 6.0, 8.0], [1_i64]);
        let args = FusedQkNormRopeArgs {
            positions: view(&mut positions, &[1]),
            qkv: view(&mut qkv, &[1, 12]),
            q_weight: Some(view(&mut q_weight, &[4])),
            k_weight: Some(view(&mut k_weight, &[4])),
            cos_sin_cache: view(&mut table, &[2, 4]),
            epsilon: 0.0,
        };
        assert_eq!(call(&op, &args, &stream(1)), None);
        let turned = [-1.984_111, 1.959_901, 2.462_378, 4.019_800];
        near(&qkv[..4], &turned, &name);
        near(&qkv[4..8], &turned.map(|v| -2.0 * v), &name);
        assert!(qkv[8..11] == [7.0, 8.0, 9.0] && qkv[11].is_nan(), "{name}: {qkv:?}");
        // A token without a position is not even normalised.
        let mut qkv = [5.0_f32; 12];
        let mut positions = [2_i64];
        let (positions, qkv_view) = (view(&mut positions, &[1]), view(&mut qkv, &[1, 12]));
        let args = FusedQkNormRopeArgs { positions, qkv: qkv_view, ..args };
        assert_eq!(call(&op, &args, &stream(1)), Some((POSITION_OUTSIDE_THE_CACHE, 0)));
        assert_eq!(qkv, [5.0; 12], "{name}");
    }
}

#[test]
fn threads_change_nothing() {
    let (heads, keys, dim, tokens) = (8, 2, 66, 700);
    let width = (heads + 2 * keys) * dim;
    let mut table = build_cos_sin_cache::<bf16>(&RotaryTable::new(66, 64, 10_000.0)).unwrap();
    let before: Vec<bf16> = (0..tokens * width).map(|i| bf16::from_f32((i as f32 * 0.11).sin())).collect();
    let mut positions: Vec<i64> = (0..tokens as i64).map(|t| t * 7 % 64).collect();
    for style in [RotaryStyle::Neox, RotaryStyle::Interleaved] {
        let plain = FusedQkNormRopeProblem::new(heads, keys, dim, 66, DType::BF16);
        let problem = FusedQkNormRopeProblem { style, cache_dtype: DType::BF16, weight_dtype: None, ..plain };
        for (name, op) in every_row::<FusedQkNormRope>(problem).into_iter().filter(|(n, _)| !n.contains("reference")) {
            let mut seen: Option<Vec<bf16>> = None;
            for threads in [1, 2, 5] {
                let mut qkv = before.clone();
                let args = FusedQkNormRopeArgs {
                    positions: view(&mut positions, &[tokens]),
                    qkv: view(&mut qkv, &[tokens, width]),
                    q_weight: None,
                    k_weight: None,
                    cos_sin_cache: view(&mut table, &[64, 66]),
                    epsilon: 1e-6,
                };
                assert_eq!(call(&op, &args, &stream(threads)), None);
                assert!(*seen.get_or_insert_with(|| qkv.clone()) == qkv, "{name} on {threads} threads");
            }
        }
    }
}
