// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows in memory, and how a call's rows become tasks.

use std::ops::Range;

use opweave_device::cpu::Parallel;

use crate::simd::{Isa, Simd, SimdOp};

/// Rows of one tensor: the address of the first and the distance between them.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// The first element of row 0.
    pub data: *mut u8,
    /// Elements from a row to the next.
    pub stride: isize,
}

// SAFETY: inert data; reading or writing through it is an unsafe operation whose caller answers for races.
unsafe impl Send for Rows {}
// SAFETY: as for Send.
unsafe impl Sync for Rows {}

/// Elements from row 0 to row `row`. A view's extent fits the address space, so the product does; in 32 bits it would not.
#[inline(always)]
pub(crate) const fn element_offset(row: usize, stride: isize) -> isize {
    (row as isize).wrapping_mul(stride)
}

impl Rows {
    /// The address of the first element of a row.
    ///
    /// # Safety
    /// - Row `row` lies within the memory of the view that this was made from.
    #[inline(always)]
    pub(crate) unsafe fn row<T>(self, row: usize) -> *mut T {
        // SAFETY: the caller's clause.
        unsafe { self.data.cast::<T>().offset(element_offset(row, self.stride)) }
    }
}

/// A body that computes a range of rows, each from its own data alone: that is what makes results independent of the
/// number of threads and of the batch.
pub(crate) trait RowKernel: Sync {
    /// Computes `rows`. Implementations are `#[inline(always)]`.
    ///
    /// # Safety
    /// - Every row in the range is within the call that the kernel was built for.
    /// - No other thread writes what these rows read or write.
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>);
}

struct Part<'a, K> {
    kernel: &'a K,
    rows: Range<usize>,
}

impl<K: RowKernel> SimdOp for Part<'_, K> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        // SAFETY: `for_each_row` passes on its caller's clauses, and gives every row to one task.
        unsafe { self.kernel.rows(s, self.rows) }
    }
}

/// Memory traffic that is worth waking a thread for: some ten microseconds of one core's work.
const BYTES_PER_TASK: usize = 256 << 10;

/// Tasks per thread, so that a thread that was interrupted does not hold up the others for long.
const TASKS_PER_THREAD: usize = 4;

/// Into how many tasks to cut `rows` rows of `bytes_per_row` bytes of traffic.
pub(crate) fn tasks_for(rows: usize, bytes_per_row: usize, threads: usize) -> usize {
    if threads == 1 {
        return rows.min(1);
    }
    let by_size = rows.saturating_mul(bytes_per_row) / BYTES_PER_TASK;
    rows.min(by_size.clamp(1, threads * TASKS_PER_THREAD))
}

/// Memory traffic that is worth a task among threads that are awake, where a call reads much and is one of many.
const BYTES_OF_A_STREAM: usize = 64 << 10;

/// Into how many tasks to cut rows that are streamed once: as many for each thread, so that all end together.
pub(crate) fn even_tasks_for(rows: usize, bytes_per_row: usize, threads: usize) -> usize {
    if threads == 1 {
        return rows.min(1);
    }
    let by_size = rows.saturating_mul(bytes_per_row) / BYTES_OF_A_STREAM;
    if by_size <= threads {
        return rows.min(by_size.max(1));
    }
    rows.min(threads * (by_size / threads / 2).clamp(1, TASKS_PER_THREAD))
}

/// Into how many parts to cut each row where there are fewer rows than threads: each is worth a thread of its own.
pub(crate) fn parts_of_a_row(rows: usize, bytes_per_row: usize, threads: usize) -> usize {
    if rows == 0 || rows >= threads {
        return 1;
    }
    threads.div_ceil(rows).min(bytes_per_row / BYTES_PER_TASK).max(1)
}

/// The rows of task `task`: contiguous, in order, sizes differing by at most one.
fn task_rows(task: usize, tasks: usize, rows: usize) -> Range<usize> {
    let (each, more) = (rows / tasks, rows % tasks);
    let start = task * each + task.min(more);
    start..start + each + usize::from(task < more)
}

/// Runs `kernel` over `rows` rows on the threads of `pool`.
///
/// # Safety
/// - All `rows` rows are within the call that the kernel was built for.
/// - Until this returns, nobody else writes what they read, or reads or writes what they write.
#[inline]
pub(crate) unsafe fn for_each_row<K: RowKernel>(
    isa: Isa,
    pool: &dyn Parallel,
    kernel: &K,
    rows: usize,
    bytes_per_row: usize,
) {
    let tasks = tasks_for(rows, bytes_per_row, pool.threads());
    // SAFETY: the caller's clauses.
    unsafe { in_tasks(isa, pool, kernel, rows, tasks) }
}

/// Runs `kernel` over `rows` rows as so many tasks.
///
/// # Safety
/// - As for [`for_each_row`].
#[inline]
pub(crate) unsafe fn in_tasks<K: RowKernel>(isa: Isa, pool: &dyn Parallel, kernel: &K, rows: usize, tasks: usize) {
    if tasks <= 1 {
        if rows > 0 {
            isa.run(Part { kernel, rows: 0..rows });
        }
        return;
    }
    pool.run(tasks, &|task| isa.run(Part { kernel, rows: task_rows(task, tasks, rows) }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_computed_in_64_bits() {
        assert_eq!(element_offset(8_388_608, 256), 2_147_483_648);
        assert_eq!(element_offset(4_194_304, 512), 2_147_483_648);
        assert_eq!(element_offset(1, (1 << 31) + 8), 2_147_483_656);
        assert_eq!(element_offset(3, -(1 << 31)), -6_442_450_944);
    }

    #[test]
    fn tasks_cover_every_row_once() {
        for rows in [0, 1, 2, 3, 7, 8, 9, 63, 1000] {
            for threads in [1, 2, 3, 8] {
                for bytes in [1, 4096, 1 << 20] {
                    for tasks in [tasks_for(rows, bytes, threads), even_tasks_for(rows, bytes, threads)] {
                        let covered: Vec<usize> = (0..tasks).flat_map(|t| task_rows(t, tasks, rows)).collect();
                        assert_eq!(covered, (0..rows).collect::<Vec<_>>(), "{rows} rows of {bytes} over {threads}");
                    }
                }
            }
        }
    }

    #[test]
    fn streamed_rows_are_cut_evenly_among_threads() {
        assert_eq!(even_tasks_for(18, 9 << 10, 2), 2);
        assert_eq!(even_tasks_for(96, 9 << 10, 2), 6);
        assert_eq!(even_tasks_for(1536, 9 << 10, 2), 8);
        assert_eq!(even_tasks_for(18, 9 << 10, 64), 2);
        assert_eq!(even_tasks_for(4, 9 << 10, 2), 1);
        assert_eq!(even_tasks_for(1, 9 << 20, 2), 1);
    }

    #[test]
    fn rows_are_cut_only_where_threads_would_idle_and_parts_are_large() {
        assert_eq!(parts_of_a_row(1, 8 << 20, 8), 8);
        assert_eq!(parts_of_a_row(3, 8 << 20, 8), 3);
        assert_eq!(parts_of_a_row(8, 8 << 20, 8), 1);
        assert_eq!(parts_of_a_row(1, 600 << 10, 8), 2);
        assert_eq!(parts_of_a_row(1, 100, 8), 1);
        assert_eq!(parts_of_a_row(0, 8 << 20, 8), 1);
    }

    #[test]
    fn small_calls_stay_on_the_calling_thread() {
        assert_eq!(tasks_for(16, 16 << 10, 8), 1);
        assert_eq!(tasks_for(4096, 32 << 10, 2), 8);
    }
}
