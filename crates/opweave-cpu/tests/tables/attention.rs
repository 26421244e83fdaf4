// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Attention: masks, windows, empty rows, the scale of a head, threads, parts, and rows beside others.

use std::num::NonZero;

use opweave_contract::Operator;
use opweave_contract::ops::attention::{
    AttentionPrefill, AttentionPrefillArgs, AttentionPrefillProblem, KeySource, LseBase, MergeAttentionStates,
    MergeAttentionStatesArgs, MergeAttentionStatesProblem, PagedAttentionDecode, PagedAttentionDecodeArgs,
    PagedAttentionDecodeProblem,
};
use opweave_device::{HostStream, StreamRef};
use opweave_registry::{Prepared, Workspace};
use opweave_tensor::{DType, RawTensor};

use crate::support::{call, every_row, stream, view};

/// Features of the heads here; a value of a key stands in all of them.
const DIM: usize = 64;

fn spread(values: &[f32]) -> Vec<f32> {
    values.iter().flat_map(|&v| [v; DIM]).collect()
}

fn close(a: f32, b: f32) -> bool {
    (a - b).abs() <= 1e-6 * b.abs().max(1.0)
}

/// One head of equal scores over `values` in rows, for `queries` queries: the first feature of each result, and the logarithms.
fn ragged(
    op: &Prepared<AttentionPrefill>,
    queries: usize,
    values: &[f32],
    stream: &HostStream,
) -> (Vec<f32>, Vec<f32>) {
    let n = values.len();
    let (mut q, mut k, mut v) = (vec![0.5_f32; queries * DIM], vec![0.0_f32; n * DIM], spread(values));
    let (mut starts, mut rows) = ([0, queries as i32], [0, n as i32]);
    let (mut out, mut lse) = (vec![7.0_f32; queries * DIM], vec![7.0_f32; queries]);
    let args = AttentionPrefillArgs {
        q: view(&mut q, &[queries, 1, DIM]),
        cu_seqlens_q: view(&mut starts, &[2]),
        k: Some(view(&mut k, &[n, 1, DIM])),
        v: Some(view(&mut v, &[n, 1, DIM])),
        k_cache: None,
        v_cache: None,
        k_scale: None,
        v_scale: None,
        block_tables: None,
        seq_lens: None,
        kv_indptr: Some(view(&mut rows, &[2])),
        kv_indices: None,
        last_page_len: None,
        sinks: None,
        out: view(&mut out, &[queries, 1, DIM]),
        lse: Some(view(&mut lse, &[queries, 1])),
        softmax_scale: 1.0,
        soft_cap: 1.0,
    };
    assert_eq!(call(op, &args, stream), None);
    assert!(out.chunks(DIM).all(|row| row.iter().all(|v| v.to_bits() == row[0].to_bits())));
    (out.iter().step_by(DIM).copied().collect(), lse)
}

fn prefill(window: Option<usize>) -> Vec<(String, Prepared<AttentionPrefill>)> {
    every_row(AttentionPrefillProblem {
        keys: KeySource::Ragged,
        lse_base: Some(LseBase::E),
        sliding_window: window.and_then(NonZero::new),
        ..AttentionPrefillProblem::new(1, 1, DIM, DType::F32)
    })
}

/// What a call of decoding reads and writes: pages of one token for every key, in order.
struct Decode {
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    pages: Vec<i32>,
    lens: Vec<i32>,
    out: Vec<f32>,
    lse: Vec<f32>,
    heads: [usize; 2],
    dim: usize,
}

impl Decode {
    fn args(&mut self) -> PagedAttentionDecodeArgs {
        let (b, [heads, keys], dim) = (self.lens.len(), self.heads, self.dim);
        let (n, each) = (self.k.len() / (keys * dim), self.pages.len() / b);
        PagedAttentionDecodeArgs {
            q: view(&mut self.q, &[b, heads, dim]),
            k_cache: view(&mut self.k, &[n, 1, keys, dim]),
            v_cache: view(&mut self.v, &[n, 1, keys, dim]),
            k_scale: None,
            v_scale: None,
            block_tables: Some(view(&mut self.pages, &[b, each])),
            seq_lens: Some(view(&mut self.lens, &[b])),
            kv_indptr: None,
            kv_indices: None,
            last_page_len: None,
            sinks: None,
            out: view(&mut self.out, &[b, heads, dim]),
            lse: Some(view(&mut self.lse, &[b, heads])),
            softmax_scale: 1.0,
            soft_cap: 1.0,
        }
    }

    /// One head, one sequence of these values, equal scores.
    fn equal(values: &[f32]) -> Decode {
        let n = values.len();
        Decode {
            q: vec![0.5; DIM],
            k: vec![0.0; n * DIM],
            v: spread(values),
            pages: (0..n as i32).collect(),
            lens: vec![n as i32],
            out: vec![7.0; DIM],
            lse: vec![7.0],
            heads: [1, 1],
            dim: DIM,
        }
    }

    /// Numbers of a seed, six heads on two.
    fn drawn(lens: &[usize], each: usize) -> Decode {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = |n: usize| {
            let next = |_| {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                ((state >> 40) as f32 / 16_777_216.0 - 0.5) * 3.0
            };
            (0..n).map(next).collect::<Vec<f32>>()
        };
        let (b, n) = (lens.len(), lens.len() * each);
        Decode {
            q: draw(b * 6 * DIM),
            k: draw(n * 2 * DIM),
            v: draw(n * 2 * DIM),
            // Backwards: no page lies where its number says.
            pages: (0..n as i32).rev().collect(),
            lens: lens.iter().map(|&len| len as i32).collect(),
            out: vec![7.0; b * 6 * DIM],
            lse: vec![7.0; b * 6],
            heads: [6, 2],
            dim: DIM,
        }
    }

    fn bits(&self) -> Vec<u32> {
        self.out.iter().chain(&self.lse).map(|v| v.to_bits()).collect()
    }
}

fn decode(heads: [usize; 2], more: &[&str]) -> Vec<(String, Prepared<PagedAttentionDecode>)> {
    let mut facts = vec![format!("num_heads={}", heads[0]), format!("num_kv_heads={}", heads[1])];
    facts.extend([
        format!("head_dim={DIM}"),
        "page_size=1".to_owned(),
        "dtype=f32".to_owned(),
        "lse_base=e".to_owned(),
    ]);
    facts.extend(more.iter().map(|fact| (*fact).to_owned()));
    every_row(PagedAttentionDecode::problem_from(&facts).unwrap())
}

/// Case A19: the mask is aligned bottom-right, whichever of queries and keys are more.
#[test]
fn a19_causal_is_aligned_bottom_right() {
    for (name, op) in prefill(None) {
        let (out, _) = ragged(&op, 2, &[1.0, 2.0, 3.0, 4.0, 5.0], &stream(1));
        assert!(close(out[0], 2.5) && close(out[1], 3.0), "{name}: {out:?}");
        let (out, lse) = ragged(&op, 5, &[1.0, 2.0], &stream(1));
        assert_eq!(out[..3], [0.0; 3], "{name}");
        assert_eq!(lse[..3], [f32::NEG_INFINITY; 3], "{name}");
        assert!(close(out[3], 1.0) && close(out[4], 1.5), "{name}: {out:?}");
        assert!(close(lse[3], 0.0) && close(lse[4], 2.0_f32.ln()), "{name}: {lse:?}");
        let (out, _) = ragged(&op, 1, &[1.0, 2.0, 3.0, 4.0, 5.0], &stream(1));
        assert!(close(out[0], 3.0), "{name}: {out:?}");
    }
}

/// Case A20: a window counts the current token, in prefill as in decoding.
#[test]
fn a20_a_window_counts_its_own_token() {
    let values = [10.0, 20.0, 30.0, 40.0];
    for (window, expected) in [(1, 40.0), (2, 35.0), (3, 30.0), (4, 25.0), (9, 25.0)] {
        for (name, op) in prefill(Some(window)) {
            for queries in [1, 4] {
                let (out, _) = ragged(&op, queries, &values, &stream(1));
                assert!(close(out[queries - 1], expected), "{name}: window {window}, {out:?}");
            }
        }
        for (name, op) in decode([1, 1], &[&format!("sliding_window={window}")]) {
            let mut one = Decode::equal(&values);
            assert_eq!(call(&op, &one.args(), &stream(1)), None);
            assert!(close(one.out[0], expected), "{name}: window {window}, {}", one.out[0]);
        }
    }
    let error = PagedAttentionDecode::problem_from(&[
        "num_heads=1",
        "num_kv_heads=1",
        "head_dim=64",
        "page_size=1",
        "dtype=f32",
        "sliding_window=0",
    ]);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("sliding_window") && error.contains("at least 1"), "{error}");
}

/// Case A21: an empty sequence gives zeros and -infinity, and its neighbours what they give without it.
#[test]
fn a21_an_empty_sequence_is_empty_and_leaves_its_neighbours_alone() {
    for (name, op) in decode([6, 2], &[]) {
        let mut batch = Decode::drawn(&[4, 0, 1], 4);
        assert_eq!(call(&op, &batch.args(), &stream(2)), None);
        let (each, lse) = (6 * DIM, 6);
        assert!(batch.out[each..2 * each].iter().all(|v| v.to_bits() == 0), "{name}");
        assert_eq!(batch.lse[lse..2 * lse], [f32::NEG_INFINITY; 6], "{name}");
        let mut alone = Decode::drawn(&[4, 4, 1], 4);
        assert_eq!(call(&op, &alone.args(), &stream(2)), None);
        for range in [0..each, 2 * each..3 * each] {
            assert_eq!(batch.out[range.clone()], alone.out[range], "{name}");
        }
    }
}

/// Case A21, the other half: with an empty state the other one is returned bit for bit.
#[test]
fn a21_an_empty_state_is_neutral() {
    let problem = MergeAttentionStatesProblem::new(1, 3, DType::F32);
    for (name, op) in every_row::<MergeAttentionStates>(problem) {
        let (some, none) = (([1.5_f32, -0.0, f32::NAN], 0.3_f32), ([f32::NAN; 3], f32::NEG_INFINITY));
        for (a, b, expected) in [(some, none, some), (none, some, some), (none, none, ([0.0; 3], f32::NEG_INFINITY))] {
            let (mut v_a, mut lse_a, mut v_b, mut lse_b) = (a.0, [a.1], b.0, [b.1]);
            let (mut out, mut lse) = ([7.0_f32; 3], [7.0_f32]);
            let args = MergeAttentionStatesArgs {
                v_a: view(&mut v_a, &[1, 1, 3]),
                lse_a: view(&mut lse_a, &[1, 1]),
                v_b: view(&mut v_b, &[1, 1, 3]),
                lse_b: view(&mut lse_b, &[1, 1]),
                out: view(&mut out, &[1, 1, 3]),
                lse: view(&mut lse, &[1, 1]),
            };
            assert_eq!(call(&op, &args, &stream(1)), None);
            assert_eq!(out.map(f32::to_bits), expected.0.map(f32::to_bits), "{name}");
            assert_eq!(lse[0].to_bits(), expected.1.to_bits(), "{name}");
        }
    }
}

/// Case A24: the scale is that of the head as it is, and other heads are refused.
#[test]
fn a24_the_scale_is_that_of_the_true_head() {
    for dim in [64, 80, 96, 112, 128, 192, 256] {
        let problem = PagedAttentionDecodeProblem::new(1, 1, dim, 1, DType::F32);
        for (name, op) in every_row::<PagedAttentionDecode>(problem) {
            let (mut q, mut k, mut v) = (vec![0.0_f32; dim], vec![0.0_f32; 2 * dim], vec![0.0_f32; 2 * dim]);
            (q[dim - 1], k[dim - 1]) = (5.0, 4.0);
            v[..dim].fill(1.0);
            let mut decode = Decode {
                q,
                k,
                v,
                pages: vec![0, 1],
                lens: vec![2],
                out: vec![7.0; dim],
                lse: vec![7.0],
                heads: [1, 1],
                dim,
            };
            let args = PagedAttentionDecodeArgs { lse: None, ..decode.args() };
            assert_eq!(call(&op, &args, &stream(1)), None);
            let expected = 1.0 / (1.0 + (-20.0 / (dim as f64).sqrt()).exp());
            assert!(close(decode.out[0], expected as f32), "{name}: {dim}: {} for {expected}", decode.out[0]);
            assert!(dim != 80 || (expected - 0.903_442_0).abs() < 1e-7);
        }
    }
    let refused = PagedAttentionDecodeProblem::new(1, 1, 72, 1, DType::F32);
    let error = PagedAttentionDecode::validate(&refused).unwrap_err().to_string();
    assert!(error.contains("head_dim") && error.contains("72") && error.contains("80"), "{error}");
}

/// What a prepared operator wants of scratch memory, lent to one call.
fn lent(op: &Prepared<PagedAttentionDecode>, args: &PagedAttentionDecodeArgs, stream: &HostStream) -> usize {
    let bytes = op.workspace().scratch.bytes;
    let mut memory = vec![0xa5_u8; bytes + 64];
    let start = memory.as_ptr().align_offset(64);
    let scratch = (memory[start..].as_mut_ptr(), bytes);
    // SAFETY: clauses 1 and 2 of `Prepared::enqueue`: the views and the workspace are of vectors of the test.
    unsafe { op.enqueue(args, Workspace { scratch, ..Workspace::NONE }, StreamRef::host(stream)) }.unwrap();
    bytes
}

/// Case A34: neither threads nor parts nor the sequences beside it change a bit of a sequence.
#[test]
fn a34_bits_depend_on_the_sequence_alone() {
    let lens = [1500, 1, 0, 513, 512, 700];
    for more in [&[][..], &["sliding_window=600"]] {
        let plain = decode([6, 2], more);
        let bounds = [more, &["sequences.max=6", "max_pages.max=1500"]].concat();
        for ((name, op), (_, cut)) in plain.iter().zip(decode([6, 2], &bounds)) {
            let mut batch = Decode::drawn(&lens, 1500);
            assert_eq!(call(op, &batch.args(), &stream(1)), None);
            let expected = batch.bits();
            for threads in [1, 2, 3] {
                let mut again = Decode::drawn(&lens, 1500);
                assert_eq!(call(op, &again.args(), &stream(threads)), None);
                assert!(again.bits() == expected, "{name}: {threads} threads");
                let mut again = Decode::drawn(&lens, 1500);
                let bytes = lent(&cut, &again.args(), &stream(threads));
                assert!(again.bits() == expected, "{name}: {threads} threads, in parts");
                assert_eq!(bytes > 0, !name.contains("reference"), "{name}");
            }
            // Each sequence alone: its row of the batch's tables, on the same cache.
            for (b, &len) in lens.iter().enumerate() {
                let mut alone = Decode::drawn(&lens, 1500);
                let (q, pages) = (alone.q[b * 6 * DIM..][..6 * DIM].to_vec(), alone.pages[b * 1500..][..1500].to_vec());
                (alone.q, alone.pages, alone.lens) = (q, pages, vec![len as i32]);
                (alone.out, alone.lse) = (vec![7.0; 6 * DIM], vec![7.0; 6]);
                lent(&cut, &alone.args(), &stream(2));
                assert!(alone.out[..] == batch.out[b * 6 * DIM..][..6 * DIM], "{name}: sequence {b} alone");
                assert!(alone.lse[..] == batch.lse[b * 6..][..6], "{name}: sequence {b} alone");
            }
        }
    }
}

/// The same for prefill: sequences with other lengths beside them, on any number of threads.
#[test]
fn a34_prefill_gives_a_sequence_what_it_gives_it_alone() {
    let (queries, keys) = ([70, 1, 0, 33, 5], [90, 40, 3, 33, 2]);
    let facts = ["num_heads=6", "num_kv_heads=2", "head_dim=64", "dtype=f32", "keys=ragged", "lse_base=2"];
    let facts = [&facts[..], &["sliding_window=48"]].concat();
    let problem = AttentionPrefill::problem_from(&facts).unwrap();
    let drawn = Decode::drawn(&[200; 6], 1);
    let source: Vec<f32> = drawn.q.iter().chain(&drawn.k).chain(&drawn.v).cycle().take(120_000).copied().collect();
    let run = |op: &Prepared<AttentionPrefill>, which: &[usize], threads: usize| {
        let (mut starts, mut rows) = (vec![0_i32], vec![0_i32]);
        let (mut q, mut k, mut v) = (Vec::new(), Vec::new(), Vec::new());
        for &b in which {
            // What a sequence holds depends on its number alone.
            let row = |part: usize, i: usize, width: usize| source[(part * 5 + b) * 7001 + i * 29..][..width].to_vec();
            let fill = |part, n, width| (0..n).flat_map(|i| row(part, i, width)).collect::<Vec<f32>>();
            q.extend(fill(0, queries[b], 6 * DIM));
            k.extend(fill(1, keys[b], 2 * DIM));
            v.extend(fill(2, keys[b], 2 * DIM));
            starts.push(starts.last().unwrap() + queries[b] as i32);
            rows.push(rows.last().unwrap() + keys[b] as i32);
        }
        let (tokens, all) = (q.len() / (6 * DIM), k.len() / (2 * DIM));
        let (mut out, mut lse) = (vec![7.0_f32; tokens * 6 * DIM], vec![7.0_f32; tokens * 6]);
        let (b, n) = (starts.len(), rows.len());
        let tensor = |t: &mut Vec<f32>, shape: &[usize]| -> RawTensor { view(t, shape) };
        let args = AttentionPrefillArgs {
            q: tensor(&mut q, &[tokens, 6, DIM]),
            cu_seqlens_q: view(&mut starts, &[b]),
            k: Some(tensor(&mut k, &[all, 2, DIM])),
            v: Some(tensor(&mut v, &[all, 2, DIM])),
            k_cache: None,
            v_cache: None,
            k_scale: None,
            v_scale: None,
            block_tables: None,
            seq_lens: None,
            kv_indptr: Some(view(&mut rows, &[n])),
            kv_indices: None,
            last_page_len: None,
            sinks: None,
            out: tensor(&mut out, &[tokens, 6, DIM]),
            lse: Some(tensor(&mut lse, &[tokens, 6])),
            softmax_scale: 1.0,
            soft_cap: 1.0,
        };
        assert_eq!(call(op, &args, &stream(threads)), None);
        (out, lse)
    };
    for (name, op) in every_row::<AttentionPrefill>(problem) {
        let (out, lse) = run(&op, &[0, 1, 2, 3, 4], 1);
        assert!(run(&op, &[0, 1, 2, 3, 4], 3) == (out.clone(), lse.clone()), "{name}: threads");
        let mut first = 0;
        for (b, rows) in queries.into_iter().enumerate() {
            let (alone, its) = run(&op, &[b], 2);
            assert!(alone[..] == out[first * 6 * DIM..][..alone.len()], "{name}: sequence {b} alone");
            assert!(its[..] == lse[first * 6..][..its.len()], "{name}: sequence {b} alone");
            first += rows;
        }
    }
}

/// A value that a query does not see is no part of its result, whatever it is.
#[test]
fn what_is_masked_reaches_no_result() {
    for (name, op) in prefill(None) {
        let plain = ragged(&op, 3, &[1.0, 2.0, 3.0], &stream(1));
        for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let (out, lse) = ragged(&op, 3, &[1.0, 2.0, wrong], &stream(1));
            assert_eq!((&out[..2], &lse[..]), (&plain.0[..2], &plain.1[..]), "{name}: {wrong}");
            assert!(out[2] == wrong || out[2].is_nan() && wrong.is_nan(), "{name}: {wrong} gives {}", out[2]);
        }
    }
}
