// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `reshape_paged_cache` by `aclnnScatterNdUpdate`.
//!
//! That operator writes every row and takes no index outside. Rows without a slot are therefore made copies of the first row that
//! has one, slot and all, and where no row has one, of what lies in slot 0 already: whichever is written last, the cache is the
//! same. All that is moved is gathered and scattered, never computed with.

use opweave_contract::Operator;
use opweave_contract::ops::kv_cache::{
    CacheLayout, RESHAPE_PAGED_CACHE_PLAIN, ReshapePagedCache, ReshapePagedCacheArgs, ReshapePagedCacheProblem,
};
use opweave_registry::{Domain, Needs};
use opweave_tensor::{DType, RawTensor};

use crate::descriptor::Form;
use crate::indices::{self, BOTH, CLAMP, DIFFERS, OPERATIONS as I};
use crate::operation::{Attributes, CAST, COPY, COUNT, GATHER, Operation, SMALLEST, WHERE, ZERO, operation};
use crate::program::{Operand, Program};
use crate::vendor::{Row, Vendor};

operation! {
    /// Rows of `varRef` by `indices`, which must all be inside, become those of `updates`.
    SCATTER = "aclnnScatterNdUpdate"(tensor(0), tensor(1), tensor(2))
}
operation! {
    /// `out = self != other`, a number.
    DIFFERS_FROM_NUMBER = "aclnnNeScalar"(tensor(0), integer, tensor(1))
}
operation! {
    /// `out = self / other`, a number, rounded down.
    DIVIDE_DOWN = "aclnnFloorDivides"(tensor(0), integer, tensor(1))
}
operation! {
    /// `out = self * other`, a number.
    TIMES = "aclnnMuls"(tensor(0), integer, tensor(1))
}
operation! {
    /// `out = self + alpha * other`, broadcast.
    ADD = "aclnnAdd"(tensor(0), tensor(1), integer, tensor(2))
}

/// What stands for padding.
const PADDING: i64 = -1;

/// The largest divisor of both.
const fn common(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Where the rows of a call go, and which of them go there.
struct Slots {
    tokens: usize,
    /// The row that each row is taken from; behind the last one for what slot 0 holds.
    source: Option<Operand>,
    /// The slot of that row, and its page.
    slot: Option<Operand>,
    page: Option<Operand>,
}

impl Slots {
    /// `slots` drawn inside, with the rows that were outside.
    fn new(
        problem: &ReshapePagedCacheProblem,
        slots: Option<Operand>,
        capacity: usize,
        program: &mut Program,
    ) -> Option<(Self, Option<Operand>)> {
        let view = slots?.view;
        let tokens = view.dim(0);
        let mut scratch = |dtype, shape: &[usize]| program.scratch_tensor(&view, dtype, shape);
        let (all, outside) = (scratch(DType::I64, &[tokens + 1]), scratch(DType::Bool, &[tokens]));
        let (rows, none) = (scratch(DType::I32, &[tokens]), scratch(DType::I32, &[1]));
        let (inside, first) = (scratch(DType::I32, &[tokens]), scratch(DType::I32, &[1]));
        let (source, slot) = (scratch(DType::I32, &[tokens]), scratch(DType::I64, &[tokens, 1]));
        let page = scratch(DType::I64, &[tokens, 1]);
        let (drawn, last) = (program.part(all, 0, &[tokens]), program.part(all, tokens, &[1]));
        let limits = Attributes { limit: capacity as i64 - 1, ..Attributes::number(0) };
        program.push(&CLAMP, limits, &[slots, drawn]);
        program.push(&ZERO, Attributes::number(0), &[last]);
        program.push(&DIFFERS, Attributes::number(0), &[slots, drawn, outside]);
        program.push(&COUNT, Attributes { limit: tokens as i64, ..Attributes::number(0) }, &[rows]);
        program.push(&COUNT, Attributes { limit: tokens as i64 + 1, ..Attributes::number(tokens as i64) }, &[none]);
        program.push(&WHERE, Attributes::number(0), &[outside, none, rows, inside]);
        program.push(&SMALLEST, Attributes::number(0), &[inside, first]);
        program.push(&WHERE, Attributes::number(0), &[outside, first, rows, source]);
        let table = program.reshaped(all, DType::I64, &[tokens + 1, 1]);
        program.push(&GATHER, Attributes::number(0), &[table, source, slot]);
        program.push(&DIVIDE_DOWN, Attributes::number(problem.page_size as i64), &[slot, page]);
        Some((Slots { tokens, source, slot, page }, outside))
    }

    /// Stores the rows of `rows` in `cache`.
    fn store(&self, problem: &ReshapePagedCacheProblem, rows: &RawTensor, cache: &RawTensor, program: &mut Program) {
        let (tokens, heads, features, pages) = (self.tokens, rows.dim(1), rows.dim(2), cache.dim(0));
        let (width, size) = (heads * features, problem.page_size * heads * features);
        // From slot to slot, and from head to head, in a page; and what lies side by side of a row.
        let (step, turn, run) = match problem.layout {
            CacheLayout::Nhd => (width, features, width),
            CacheLayout::Hnd => (features, problem.page_size * features, features),
        };
        let stride = if pages > 1 { cache.stride(0).unsigned_abs() } else { size };
        // The cache as a table of rows as long as they can be: every page and every slot begins with one.
        let unit = common(run, stride);
        let (pieces, each) = (width / unit, run / unit);
        let long = unit as isize;
        let table =
            program.matrix(cache, cache.dtype(), (((pages - 1) * stride + size) / unit, unit), (long, 1), Form::Plain);

        let mark = program.mark();
        let staged = program.scratch_tensor(rows, rows.dtype(), &[tokens + 1, width]);
        let taken = program.view(rows, &[tokens, heads, features], rows.strides());
        let of_rows = program.part(staged, 0, &[tokens, heads, features]);
        program.push(&COPY, Attributes::number(0), &[of_rows, taken]);
        let held = program.view(cache, &[heads, features], &[turn as isize, 1]);
        let of_slot_0 = program.part(staged, tokens * width, &[heads, features]);
        program.push(&COPY, Attributes::number(0), &[of_slot_0, held]);
        let chosen = program.scratch_tensor(rows, rows.dtype(), &[tokens, width]);
        program.push(&GATHER, Attributes::number(0), &[staged, self.source, chosen]);

        // slot * step + page * (stride - page_size * step), and where each piece lies from there; all in rows of the table.
        let (by_slot, by_page) = (step / unit, stride as i64 / long as i64 - (problem.page_size * step / unit) as i64);
        let mut index = self.slot;
        let like = cache;
        let column = |program: &mut Program| program.scratch_tensor(like, DType::I64, &[tokens, 1]);
        if by_slot != 1 {
            let times = column(program);
            program.push(&TIMES, Attributes::number(by_slot as i64), &[index, times]);
            index = times;
        }
        if by_page != 0 {
            let sum = column(program);
            program.push(&ADD, Attributes::number(by_page), &[index, self.page, sum]);
            index = sum;
        }
        if pieces > 1 {
            let mut counted = |count: usize, shape: &[usize]| {
                let places = program.scratch_tensor(like, DType::I64, &[count]);
                program.push(&COUNT, Attributes { limit: count as i64, ..Attributes::number(0) }, &[places]);
                program.reshaped(places, DType::I64, shape)
            };
            let mut places = counted(each, &[1, each]);
            if pieces > each {
                let turns = counted(heads, &[heads, 1]);
                let both = program.scratch_tensor(like, DType::I64, &[heads, each]);
                program.push(&ADD, Attributes::number((turn / unit) as i64), &[places, turns, both]);
                places = program.reshaped(both, DType::I64, &[1, pieces]);
            }
            let all = program.scratch_tensor(like, DType::I64, &[tokens, pieces]);
            program.push(&ADD, Attributes::number(1), &[places, index, all]);
            index = all;
        }
        let index = program.reshaped(index, DType::I64, &[tokens * pieces, 1]);
        let updates = program.reshaped(chosen, rows.dtype(), &[tokens * pieces, unit]);
        program.push(&SCATTER, Attributes::number(0), &[table, index, updates]);
        program.release(mark);
    }
}

impl Vendor for ReshapePagedCache {
    const OPERATIONS: &'static [&'static Operation] = &[
        I[0],
        I[1],
        I[2],
        I[3],
        I[4],
        I[5],
        I[6],
        I[7],
        I[8],
        &SCATTER,
        &DIFFERS_FROM_NUMBER,
        &DIVIDE_DOWN,
        &TIMES,
        &ADD,
        &GATHER,
        &COUNT,
        &SMALLEST,
        &WHERE,
        &ZERO,
        &CAST,
        &COPY,
    ];

    /// Caches of the dtype of what is stored: these devices have no f8.
    fn row() -> Row {
        Row::new(&RESHAPE_PAGED_CACHE_PLAIN, Needs::default().with(Domain::Words("cache_format", vec!["plain"])))
    }

    fn program(problem: &ReshapePagedCacheProblem, args: &ReshapePagedCacheArgs, program: &mut Program) {
        let (tokens, pages) = (args.slot_mapping.dim(0), args.k_cache.dim(0));
        if tokens == 0 {
            return;
        }
        let slots = program.argument(&args.slot_mapping);
        let slots = program.cast(slots, DType::I64);
        let outside = if pages == 0 {
            indices::all(slots, program)
        } else {
            let Some((placed, outside)) = Slots::new(problem, slots, pages * problem.page_size, program) else {
                return;
            };
            placed.store(problem, &args.k, &args.k_cache, program);
            placed.store(problem, &args.v, &args.v_cache, program);
            outside
        };
        if program.faults().is_none() {
            return;
        }
        let wrong = program.scratch_tensor(&args.slot_mapping, DType::Bool, &[tokens]);
        program.push(&DIFFERS_FROM_NUMBER, Attributes::number(PADDING), &[slots, wrong]);
        let fault = program.scratch_tensor(&args.slot_mapping, DType::Bool, &[tokens]);
        program.push(&BOTH, Attributes::number(0), &[outside, wrong, fault]);
        indices::raise(ReshapePagedCache::NAME, 0, fault, program);
    }
}
