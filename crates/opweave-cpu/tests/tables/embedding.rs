// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `embedding`: bits, threads, streams past the caches, faults with a buffer and without.

use half::bf16;
use opweave_contract::ops::embedding::{Embedding, EmbeddingArgs, EmbeddingProblem, ID_OUTSIDE_THE_VOCABULARY};
use opweave_tensor::DType;

use crate::support::{bare, call, every_row, stream, view};

/// A table of bf16 whose elements are all 65 536 patterns, NaN with every payload among them.
fn table() -> Vec<bf16> {
    (0..=u16::MAX).map(bf16::from_bits).collect()
}

#[test]
fn every_bit_of_a_row_arrives() {
    let problem = EmbeddingProblem::new(256, 256, DType::BF16);
    let mut table = table();
    let mut ids: Vec<i32> = (0..256).rev().collect();
    for (name, op) in every_row::<Embedding>(problem) {
        if name.contains("reference") {
            // It goes through f64, which keeps values and not the payloads of NaN.
            continue;
        }
        let mut out = vec![bf16::ZERO; 1 << 16];
        let args = EmbeddingArgs {
            ids: view(&mut ids, &[256]),
            table: view(&mut table, &[256, 256]),
            out: view(&mut out, &[256, 256]),
        };
        assert_eq!(call(&op, &args, &stream(1)), None);
        for (row, got) in out.chunks(256).enumerate() {
            let expected = &table[(255 - row) * 256..(256 - row) * 256];
            let bits = |values: &[bf16]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(got), bits(expected), "{name} row {row}");
        }
    }
}

#[test]
fn an_id_outside_is_raised_with_a_buffer_and_refuses_the_call_without() {
    let problem = EmbeddingProblem { id_dtype: DType::I64, ..EmbeddingProblem::new(8, 2, DType::F32) };
    let mut table: Vec<f32> = (0..16).map(|i| i as f32 + 1.0).collect();
    for (name, op) in every_row::<Embedding>(problem) {
        for wrong in [-1, 8, 1 << 32, (1 << 32) + 3, i64::MAX, i64::MIN] {
            let mut ids = [3, 0, wrong, 7, wrong];
            let mut out = [9.0_f32; 10];
            let args = EmbeddingArgs {
                ids: view(&mut ids, &[5]),
                table: view(&mut table, &[8, 2]),
                out: view(&mut out, &[5, 2]),
            };
            let fault = bare(&op, &args, &stream(1)).unwrap();
            assert_eq!((fault.operation, fault.clause, fault.row), ("embedding", ID_OUTSIDE_THE_VOCABULARY, 2));
            assert_eq!(out, [9.0; 10], "{name}: nothing is written");
            assert_eq!(call(&op, &args, &stream(1)), Some((ID_OUTSIDE_THE_VOCABULARY, 2)), "{name} {wrong}");
            assert_eq!(out, [7.0, 8.0, 1.0, 2.0, 0.0, 0.0, 15.0, 16.0, 0.0, 0.0], "{name} {wrong}");
        }
    }
}

#[test]
fn shards_of_every_rank_add_up_to_the_whole() {
    let whole = EmbeddingProblem::new(10, 3, DType::F32);
    let mut table: Vec<f32> = (0..30).map(|i| i as f32 + 1.0).collect();
    let mut ids = [9_i32, 0, 3, 4, 6, 7, 2];
    let mut sum = [0.0_f32; 21];
    for (start, end) in [(0, 4), (4, 7), (7, 7), (7, 10)] {
        let shard = EmbeddingProblem { shard_start: start, shard_end: end, ..whole };
        let mut seen: Option<Vec<f32>> = None;
        for (name, op) in every_row::<Embedding>(shard) {
            let mut out = vec![5.0_f32; 21];
            let part = &mut table[3 * start..3 * end];
            let args = EmbeddingArgs {
                ids: view(&mut ids, &[7]),
                table: view(part, &[end - start, 3]),
                out: view(&mut out, &[7, 3]),
            };
            assert_eq!(call(&op, &args, &stream(1)), None, "{name}: foreign ids are no fault");
            assert_eq!(*seen.get_or_insert_with(|| out.clone()), out, "{name}");
        }
        sum.iter_mut().zip(seen.unwrap()).for_each(|(s, v)| *s += v);
    }
    let expected: Vec<f32> = ids.iter().flat_map(|&id| (0..3).map(move |c| (3 * id + c) as f32 + 1.0)).collect();
    assert_eq!(sum.as_slice(), expected);
}

#[test]
fn threads_and_streamed_stores_change_nothing() {
    // Past the last-level cache of most machines, in rows that start within a line.
    let (vocabulary, width) = (512, 2051);
    let tokens = (80 << 20) / (width * 2);
    let problem = EmbeddingProblem::new(vocabulary, width, DType::BF16);
    let mut table: Vec<bf16> = (0..vocabulary * width).map(|i| bf16::from_bits(i as u16)).collect();
    let mut ids: Vec<i32> = (0..tokens).map(|t| (t * 37 % vocabulary) as i32).collect();
    for (name, op) in every_row::<Embedding>(problem).into_iter().filter(|(name, _)| !name.contains("reference")) {
        for threads in [1, 3] {
            let mut out = vec![bf16::ZERO; tokens * width];
            let args = EmbeddingArgs {
                ids: view(&mut ids, &[tokens]),
                table: view(&mut table, &[vocabulary, width]),
                out: view(&mut out, &[tokens, width]),
            };
            assert_eq!(call(&op, &args, &stream(threads)), None);
            for (row, &id) in out.chunks(width).zip(&ids) {
                let expected = &table[id as usize * width..(id as usize + 1) * width];
                assert!(row.iter().zip(expected).all(|(a, b)| a.to_bits() == b.to_bits()), "{name} x{threads} {id}");
            }
        }
    }
}
