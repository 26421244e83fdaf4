// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `reshape_paged_cache`: padding and slots outside, keys and values in one tensor, duplicates, threads, every code.

use half::{bf16, f16};
use opweave_contract::ops::kv_cache::{
    CacheFormat, CacheLayout, ReshapePagedCache, ReshapePagedCacheArgs, ReshapePagedCacheProblem,
    SLOT_OUTSIDE_THE_CACHE,
};
use opweave_tensor::{DType, F8E4M3};

use crate::support::{bare, call, every_row, stream, strided, view};

/// Case A26: blocks of four, slots -1, 0, 7 and 8, five rows of keys for four slots.
#[test]
fn a26_padding_is_skipped_a_slot_outside_is_a_fault_and_more_rows_are_ignored() {
    for layout in [CacheLayout::Nhd, CacheLayout::Hnd] {
        let problem = ReshapePagedCacheProblem { layout, ..ReshapePagedCacheProblem::new(1, 1, 4, DType::F32) };
        for (name, op) in every_row::<ReshapePagedCache>(problem) {
            let mut slots = [-1_i64, 0, 7, 8];
            let (mut k, mut v) = ([1.0_f32, 2.0, 3.0, 4.0, 5.0], [10.0_f32, 20.0, 30.0, 40.0, 50.0]);
            let (mut keys, mut values) = ([9.0_f32; 8], [8.0_f32; 8]);
            let pages = if layout == CacheLayout::Nhd { [2, 4, 1, 1] } else { [2, 1, 4, 1] };
            let args = ReshapePagedCacheArgs {
                slot_mapping: view(&mut slots, &[4]),
                k: view(&mut k, &[5, 1, 1]),
                v: view(&mut v, &[5, 1, 1]),
                k_scale: None,
                v_scale: None,
                k_cache: view(&mut keys, &pages),
                v_cache: view(&mut values, &pages),
            };
            let fault = bare(&op, &args, &stream(1)).unwrap();
            assert_eq!((fault.clause, fault.row), (SLOT_OUTSIDE_THE_CACHE, 3), "{name}");
            assert_eq!((keys, values), ([9.0; 8], [8.0; 8]), "{name}: nothing is written");
            assert_eq!(call(&op, &args, &stream(1)), Some((SLOT_OUTSIDE_THE_CACHE, 3)), "{name}");
            assert_eq!(keys, [2.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 3.0], "{name}");
            assert_eq!(values, [20.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 30.0], "{name}");
            // Padding alone is no fault.
            let mut slots = [-1_i64; 4];
            let args = ReshapePagedCacheArgs { slot_mapping: view(&mut slots, &[4]), ..args };
            assert_eq!((call(&op, &args, &stream(1)), bare(&op, &args, &stream(1))), (None, None), "{name}");
        }
    }
}

#[test]
fn keys_and_values_may_share_one_tensor_page_by_page() {
    // [pages, 2, page_size, heads, head_dim]: the page stride is twice a page.
    let (pages, page, heads, dim) = (3, 2, 2, 5);
    let each = page * heads * dim;
    let problem = ReshapePagedCacheProblem::new(heads, dim, page, DType::BF16);
    for (name, op) in every_row::<ReshapePagedCache>(problem) {
        let mut k: Vec<bf16> = (0..4 * heads * dim).map(|i| bf16::from_f32(i as f32 + 1.0)).collect();
        let mut v: Vec<bf16> = (0..4 * heads * dim).map(|i| bf16::from_f32(-(i as f32) - 1.0)).collect();
        let mut cache = vec![bf16::ZERO; 2 * pages * each];
        let mut slots = [5_i64, 0, 3, 2];
        let strides = [2 * each as isize, (heads * dim) as isize, dim as isize, 1];
        let args = ReshapePagedCacheArgs {
            slot_mapping: view(&mut slots, &[4]),
            k: view(&mut k, &[4, heads, dim]),
            v: view(&mut v, &[4, heads, dim]),
            k_scale: None,
            v_scale: None,
            k_cache: strided(&mut cache, 0, &[pages, page, heads, dim], &strides),
            v_cache: strided(&mut cache, each, &[pages, page, heads, dim], &strides),
        };
        assert_eq!(call(&op, &args, &stream(1)), None, "{name}");
        let mut expected = vec![bf16::ZERO; 2 * pages * each];
        for (row, &slot) in slots.iter().enumerate() {
            let (page_index, offset) = (slot as usize / page, slot as usize % page);
            let (width, at) = (heads * dim, page_index * 2 * each + offset * heads * dim);
            expected[at..at + width].copy_from_slice(&k[row * width..(row + 1) * width]);
            expected[at + each..at + each + width].copy_from_slice(&v[row * width..(row + 1) * width]);
        }
        assert!(cache == expected, "{name}");
    }
}

#[test]
fn of_two_rows_with_one_slot_the_last_stays_on_any_number_of_threads() {
    let (tokens, heads, dim, page, pages) = (6000, 2, 64, 16, 24);
    let problem = ReshapePagedCacheProblem::new(heads, dim, page, DType::F32);
    let mut slots: Vec<i64> = (0..tokens as i64).map(|t| t * 7919 % (page * pages) as i64).collect();
    let mut k: Vec<f32> = (0..tokens * heads * dim).map(|i| i as f32).collect();
    let mut v: Vec<f32> = k.iter().map(|v| -v).collect();
    let width = heads * dim;
    let mut expected = vec![0.5_f32; page * pages * width];
    for (row, &slot) in slots.iter().enumerate() {
        expected[slot as usize * width..(slot as usize + 1) * width]
            .copy_from_slice(&k[row * width..(row + 1) * width]);
    }
    for (name, op) in every_row::<ReshapePagedCache>(problem) {
        for threads in [1, 2, 5] {
            let (mut keys, mut values) = (vec![0.5_f32; expected.len()], vec![-0.5_f32; expected.len()]);
            let shape = [pages, page, heads, dim];
            let args = ReshapePagedCacheArgs {
                slot_mapping: view(&mut slots, &[tokens]),
                k: view(&mut k, &[tokens, heads, dim]),
                v: view(&mut v, &[tokens, heads, dim]),
                k_scale: None,
                v_scale: None,
                k_cache: view(&mut keys, &shape),
                v_cache: view(&mut values, &shape),
            };
            assert_eq!(call(&op, &args, &stream(threads)), None);
            assert!(keys == expected, "{name} on {threads} threads: keys");
            assert!(values.iter().zip(&expected).all(|(v, k)| *v == -k), "{name} on {threads} threads: values");
        }
    }
}

/// The nearest code by looking at all of them: ties to the even one, saturating.
fn nearest(value: f32) -> F8E4M3 {
    if value.is_nan() {
        return F8E4M3::NAN;
    }
    let distance = |code: u8| (f64::from(F8E4M3::from_bits(code).to_f32()) - f64::from(value.abs()).min(448.0)).abs();
    let better = |a: &u8, b: &u8| distance(*a).total_cmp(&distance(*b)).then((a & 1).cmp(&(b & 1)));
    let code = (0..=0x7e_u8).min_by(better).unwrap();
    F8E4M3::from_bits(code | if value.is_sign_negative() { 0x80 } else { 0 })
}

#[test]
fn every_f16_becomes_the_nearest_code_of_its_quotient() {
    let (heads, dim, tokens) = (4, 128, 128);
    let mut k: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let plain = ReshapePagedCacheProblem::new(heads, dim, 16, DType::F16);
    let mut slots: Vec<i64> = (0..tokens as i64).rev().collect();
    let scales = [[1.0_f32, 1.0, 1.0, 1.0], [0.03, 7.0, 1.0 / 3.0, 1e-3]];
    for mut scales in scales {
        let wanted: Vec<F8E4M3> =
            k.iter().enumerate().map(|(i, v)| nearest(v.to_f32() / scales[i / dim % heads])).collect();
        let problem = ReshapePagedCacheProblem { cache_format: CacheFormat::F8PerHead, ..plain };
        for (name, op) in every_row::<ReshapePagedCache>(problem) {
            let mut v = k.clone();
            let (mut keys, mut values) = (vec![F8E4M3::NAN; 1 << 16], vec![F8E4M3::NAN; 1 << 16]);
            let mut more = scales;
            let args = ReshapePagedCacheArgs {
                slot_mapping: view(&mut slots, &[tokens]),
                k: view(&mut k, &[tokens, heads, dim]),
                v: view(&mut v, &[tokens, heads, dim]),
                k_scale: Some(view(&mut scales, &[heads])),
                v_scale: Some(view(&mut more, &[heads])),
                k_cache: view(&mut keys, &[8, 16, heads, dim]),
                v_cache: view(&mut values, &[8, 16, heads, dim]),
            };
            assert_eq!(call(&op, &args, &stream(1)), None);
            assert!(keys == values, "{name}");
            for (row, got) in keys.chunks(heads * dim).rev().enumerate() {
                for (i, code) in got.iter().enumerate() {
                    let at = row * heads * dim + i;
                    assert_eq!(*code, wanted[at], "{name}: {:?} over {}", k[at], scales[i / dim]);
                }
            }
        }
    }
}
