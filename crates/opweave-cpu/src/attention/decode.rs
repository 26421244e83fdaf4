// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One row for each sequence.
//!
//! The keys of a long sequence are cut at multiples of [`SPLIT`], and the states of the parts are merged in order, whether one
//! thread takes all parts or each is a task of its own: that is a matter of time alone.

use std::marker::PhantomData;
use std::ops::Range;

use half::{bf16, f16};
use opweave_device::cpu::Parallel;
use opweave_tensor::{DType, F8E4M3};

use super::Call;
use super::keys::Sequence;
use super::rows::{MOST_HEADS, Room, Task, most_heads};
use super::scoring::Heads;
use super::state::{Total, finish, merge, read_query, write};
use crate::simd::{Elem, Isa, MAX_LANES, Simd, SimdOp};

/// Keys between two cuts: a part is some hundred microseconds of one core's work, and its state a hundredth of its keys.
const SPLIT: usize = 512;

/// The most scratch memory that a plan asks for: states of as many parts as threads could want.
const MOST_SCRATCH: usize = 64 << 20;

/// Tasks for each thread below which keys are cut.
const TASKS_PER_THREAD: usize = 8;

/// The parts of a range.
fn parts(range: &Range<usize>) -> Range<usize> {
    if range.is_empty() { 0..0 } else { range.start / SPLIT..range.end.div_ceil(SPLIT) }
}

/// One part of a range.
fn part(range: &Range<usize>, at: usize) -> Range<usize> {
    range.start.max(at * SPLIT)..range.end.min((at + 1) * SPLIT)
}

/// f32 of the state of one part, of all heads: values, then totals.
const fn state_len(heads: &Heads) -> usize {
    (heads.queries * (heads.width_v + 2)).next_multiple_of(MAX_LANES)
}

/// Scratch memory for so many sequences of so many keys in all, each of which may begin and end within a part.
pub fn scratch_bytes(heads: &Heads, sequences: usize, keys: usize) -> usize {
    let parts = (keys / SPLIT).saturating_add(sequences.saturating_mul(2));
    parts.saturating_mul(state_len(heads) * size_of::<f32>()).min(MOST_SCRATCH)
}

/// Computes `call` for row `b` of each sequence `b`.
///
/// # Safety
/// - All that [`Call`] describes lies in memory that is valid to read, and to write where results are; widths are multiples of
///   16; the dtype is f32, f16 or bf16.
/// - Results overlap nothing; nobody else accesses them, or writes what is read, until this returns.
/// - `scratch` is valid for so many bytes, aligned to a cache line, and nobody else's.
pub unsafe fn decode(isa: Isa, pool: &dyn Parallel, call: &Call, sequences: usize, scratch: (*mut u8, usize)) {
    // SAFETY: the caller's clauses; each arm names the dtypes that the call states.
    unsafe {
        match (call.dtype, call.codes) {
            (DType::F32, false) => with::<f32, f32>(isa, pool, call, sequences, scratch),
            (DType::F16, false) => with::<f16, f16>(isa, pool, call, sequences, scratch),
            (DType::BF16, false) => with::<bf16, bf16>(isa, pool, call, sequences, scratch),
            (DType::F32, true) => with::<F8E4M3, f32>(isa, pool, call, sequences, scratch),
            (DType::F16, true) => with::<F8E4M3, f16>(isa, pool, call, sequences, scratch),
            (DType::BF16, true) => with::<F8E4M3, bf16>(isa, pool, call, sequences, scratch),
            (other, _) => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    }
}

/// # Safety
/// - As for [`decode`], of keys of type T and queries of type U.
unsafe fn with<T: Elem, U: Elem>(
    isa: Isa,
    pool: &dyn Parallel,
    call: &Call,
    sequences: usize,
    (scratch, bytes): (*mut u8, usize),
) {
    let threads = pool.threads();
    // SAFETY: the caller's clauses.
    let ranges = |b| unsafe { call.row_of(b) };
    let cut: usize = (0..sequences).map(|b| parts(&ranges(b).1).len()).sum();
    let room = bytes / (state_len(&call.heads) * size_of::<f32>());
    if threads > 1 && cut > sequences && cut <= room && sequences < threads * TASKS_PER_THREAD {
        let states = States { data: scratch.cast(), call };
        let (tasks, each) = call.head_tasks(cut, threads);
        let types = PhantomData;
        pool.run(cut * tasks, &|task| {
            isa.run(Part::<T, U> {
                states,
                sequences,
                at: task / tasks,
                these: call.heads_of(task % tasks, each),
                types,
            });
        });
        pool.run(sequences, &|b| isa.run(Together::<T, U> { states, b, types }));
        return;
    }
    let (tasks, each) = call.head_tasks(sequences, threads);
    let run = |task: usize| {
        let (b, these) = (task / tasks, call.heads_of(task % tasks, each));
        isa.run(Whole::<T, U> { call, b, these, types: PhantomData });
    };
    match sequences * tasks {
        0 => {}
        1 => run(0),
        all => pool.run(all, &run),
    }
}

impl Call {
    /// Sequence `b`, empty where its table does not have it, and the keys that its last query sees.
    ///
    /// # Safety
    /// - `b` is a sequence of the call, whose tables are valid to read.
    unsafe fn row_of(&self, b: usize) -> (Sequence, Range<usize>) {
        // SAFETY: the caller's clause.
        let sequence = unsafe { self.keys.sequence(b) }.unwrap_or(Sequence::EMPTY);
        (sequence, self.scoring.seen(sequence.keys, 0))
    }

    /// Into how many tasks to cut the heads of each of `others`, and how many heads each has: whole groups where they fit.
    fn head_tasks(&self, others: usize, threads: usize) -> (usize, usize) {
        let (most, group, all) = (most_heads(&self.heads), self.heads.group(), self.heads.queries);
        if group > most {
            return (all.div_ceil(most), most);
        }
        // Heads of one token lie side by side, and are better read together, unless threads would be idle.
        let wanted = if threads == 1 { 1 } else { (4 * threads).div_ceil(others.max(1)) };
        let groups = (self.heads.keys / wanted.min(self.heads.keys)).clamp(1, most / group);
        (self.heads.keys.div_ceil(groups), groups * group)
    }

    /// The heads of a task.
    fn heads_of(&self, task: usize, each: usize) -> Range<usize> {
        task * each..((task + 1) * each).min(self.heads.queries)
    }

    /// Reads the queries of some heads of a row.
    ///
    /// # Safety
    /// - The row and the heads exist; `to` has room for them.
    #[inline(always)]
    unsafe fn read_queries<S: Simd, T: Elem, U: Elem>(&self, s: S, token: usize, these: Range<usize>, to: *mut f32) {
        let (group, width) = (self.heads.group(), self.heads.width);
        for (n, head) in these.enumerate() {
            // SAFETY: the caller's clauses.
            unsafe {
                let scale = self.scoring.scale * self.keys.scales(head / group)[0];
                read_query::<S, T, U>(s, self.q.at(token, head), scale, to.add(n * width), width);
            }
        }
    }

    /// Writes the results of some heads of a row.
    ///
    /// # Safety
    /// - The row and the heads exist, and are the caller's; totals and values are those of the heads.
    #[inline(always)]
    pub(super) unsafe fn write_results<S: Simd, T: Elem, U: Elem>(
        &self,
        s: S,
        token: usize,
        these: Range<usize>,
        totals: &[Total],
        values: *const f32,
    ) {
        let (group, width) = (self.heads.group(), self.heads.width_v);
        for (n, head) in these.enumerate() {
            // SAFETY: the caller's clauses.
            unsafe {
                let sink = self.sinks.map(|sinks| sinks.get(head));
                let (factor, lse) = finish(totals[n], sink, self.scoring.base);
                let factor = factor.map(|factor| factor * self.keys.scales(head / group)[1]);
                write::<S, T, U>(s, values.add(n * width), factor, self.out.at(token, head), width);
                if let Some(logarithms) = self.lse {
                    logarithms.at(token, head).write(lse);
                }
            }
        }
    }

    /// Some heads of one row, over all parts of `range`.
    ///
    /// # Safety
    /// - As for [`decode`]: the row and the heads exist and are the caller's; the range is one of the sequence.
    #[inline(always)]
    pub(super) unsafe fn one<S: Simd, T: Elem, U: Elem>(
        &self,
        s: S,
        token: usize,
        these: Range<usize>,
        sequence: Sequence,
        range: Range<usize>,
    ) {
        s.run(One::<T, U> { call: self, token, these, sequence, range, types: PhantomData });
    }

    /// # Safety
    /// - As for [`Call::one`].
    #[inline(always)]
    unsafe fn parts_of_one<S: Simd, T: Elem, U: Elem>(
        &self,
        s: S,
        token: usize,
        these: Range<usize>,
        sequence: Sequence,
        range: Range<usize>,
    ) {
        let width = self.heads.width_v;
        let (mut q, mut values, mut more) = (Room::new(), Room::new(), Room::new());
        let mut totals = [Total::EMPTY; MOST_HEADS];
        let mut others = [Total::EMPTY; MOST_HEADS];
        let n = these.len();
        // SAFETY: the caller's clauses; a task has no more heads than the rooms hold.
        unsafe {
            self.read_queries::<S, T, U>(s, token, these.clone(), q.data());
            let task = Task {
                keys: &self.keys,
                heads: &self.heads,
                scoring: &self.scoring,
                sequence,
                these: these.clone(),
                q: q.data(),
            };
            clear(s, values.data(), n * width);
            let parts = parts(&range);
            for at in parts.clone() {
                if at == parts.start {
                    task.take::<S, T>(s, part(&range, at), &mut totals[..n], values.data());
                    continue;
                }
                clear(s, more.data(), n * width);
                others[..n].fill(Total::EMPTY);
                task.take::<S, T>(s, part(&range, at), &mut others[..n], more.data());
                for head in 0..n {
                    let (values, more) = (values.data().add(head * width), more.data().add(head * width));
                    merge(s, &mut totals[head], values, others[head], more, width);
                }
            }
            self.write_results::<S, T, U>(s, token, these, &totals[..n], values.data());
        }
    }
}

/// Some heads of one row, entered by a call of its own.
struct One<'a, T, U> {
    call: &'a Call,
    token: usize,
    these: Range<usize>,
    sequence: Sequence,
    range: Range<usize>,
    types: PhantomData<fn(T, U)>,
}

impl<T: Elem, U: Elem> SimdOp for One<'_, T, U> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        // SAFETY: the clauses of `Call::one`, which alone makes one.
        unsafe { self.call.parts_of_one::<S, T, U>(s, self.token, self.these, self.sequence, self.range) }
    }
}

/// # Safety
/// - `data` is valid to write `n` elements, a multiple of the vector.
#[inline(always)]
unsafe fn clear<S: Simd>(s: S, data: *mut f32, n: usize) {
    let mut i = 0;
    while i < n {
        // SAFETY: the caller's clause.
        unsafe { s.store_f32::<false>(data.add(i), s.splat(0.0)) };
        i += S::LANES;
    }
}

/// Some heads of a sequence, all parts.
struct Whole<'a, T, U> {
    call: &'a Call,
    b: usize,
    these: Range<usize>,
    types: PhantomData<fn(T, U)>,
}

impl<T: Elem, U: Elem> SimdOp for Whole<'_, T, U> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        // SAFETY: the clauses of `decode`: each head of each sequence is one task's.
        unsafe {
            let (sequence, range) = self.call.row_of(self.b);
            self.call.one::<S, T, U>(s, self.b, self.these, sequence, range);
        }
    }
}

/// The states of all parts of all sequences.
#[derive(Clone, Copy)]
struct States<'a> {
    data: *mut f32,
    call: &'a Call,
}

// SAFETY: inert data; tasks write states of their own.
unsafe impl Sync for States<'_> {}
// SAFETY: as for Sync.
unsafe impl Send for States<'_> {}

impl States<'_> {
    /// Values and totals of a head in a state.
    ///
    /// # Safety
    /// - The state exists.
    #[inline(always)]
    unsafe fn at(&self, state: usize, head: usize) -> (*mut f32, *mut Total) {
        let heads = &self.call.heads;
        // SAFETY: the caller's clause.
        unsafe {
            let state = self.data.add(state * state_len(heads));
            let totals = state.add(heads.queries * heads.width_v).cast::<Total>();
            (state.add(head * heads.width_v), totals.add(head))
        }
    }
}

/// Some heads of one part.
struct Part<'a, T, U> {
    states: States<'a>,
    sequences: usize,
    /// The part among those of all sequences.
    at: usize,
    these: Range<usize>,
    types: PhantomData<fn(T, U)>,
}

impl<T: Elem, U: Elem> SimdOp for Part<'_, T, U> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        let call = self.states.call;
        let (mut b, mut before) = (0, 0);
        // SAFETY: the clauses of `decode`: `at` is less than the parts of all sequences, and each head of each is one task's.
        unsafe {
            let (sequence, range) = loop {
                debug_assert!(b < self.sequences, "a part is one of some sequence");
                let (sequence, range) = call.row_of(b);
                let count = parts(&range).len();
                if self.at < before + count {
                    break (sequence, range);
                }
                (before, b) = (before + count, b + 1);
            };
            let (mut q, mut totals) = (Room::new(), [Total::EMPTY; MOST_HEADS]);
            call.read_queries::<S, T, U>(s, b, self.these.clone(), q.data());
            let (values, kept) = self.states.at(self.at, self.these.start);
            let n = self.these.len();
            clear(s, values, n * call.heads.width_v);
            let task = Task {
                keys: &call.keys,
                heads: &call.heads,
                scoring: &call.scoring,
                sequence,
                these: self.these,
                q: q.data(),
            };
            let keys = part(&range, parts(&range).start + self.at - before);
            task.take::<S, T>(s, keys, &mut totals[..n], values);
            for (head, total) in totals[..n].iter().enumerate() {
                kept.add(head).write(*total);
            }
        }
    }
}

/// All parts of one sequence.
struct Together<'a, T, U> {
    states: States<'a>,
    b: usize,
    types: PhantomData<fn(T, U)>,
}

impl<T: Elem, U: Elem> SimdOp for Together<'_, T, U> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        let call = self.states.call;
        // SAFETY: the clauses of `decode`: the states are written, and the row is this task's.
        unsafe {
            let count = |b| parts(&call.row_of(b).1).len();
            let (first, parts) = ((0..self.b).map(count).sum::<usize>(), count(self.b));
            for head in 0..call.heads.queries {
                let mut total = Total::EMPTY;
                let (values, _) = self.states.at(first, head);
                for state in first..first + parts {
                    let (more, kept) = self.states.at(state, head);
                    if state == first {
                        total = kept.read();
                    } else {
                        merge(s, &mut total, values, kept.read(), more, call.heads.width_v);
                    }
                }
                call.write_results::<S, T, U>(s, self.b, head..head + 1, &[total], values);
            }
        }
    }
}
