// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How a CPU kernel gets threads: from its caller, through one trait.
//!
//! A kernel cuts its work into tasks by the sizes of the call and hands them to a [`Parallel`]. It never learns which
//! thread runs which task, and it computes each row within one task, so its results do not depend on the number of
//! threads.

/// Threads that a caller lends to a kernel for the length of one call.
///
/// Implementations: [`Serial`] (the calling thread), [`Pool`](super::Pool) (built in), and `rayon::ThreadPool` behind
/// the feature `rayon`.
pub trait Parallel: Send + Sync {
    /// How many tasks can make progress at once, the caller included. At least 1.
    fn threads(&self) -> usize;

    /// Calls `f(0)`, `f(1)`, … `f(tasks - 1)`, each exactly once, in any order and on any thread, and returns when all
    /// have returned.
    ///
    /// If a task panics, the remaining ones may be left out, and the panic continues in the caller after every running
    /// task has ended. A call from inside a task is legal.
    fn run(&self, tasks: usize, f: &(dyn Fn(usize) + Sync));
}

/// Runs every task on the calling thread, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Serial;

impl Parallel for Serial {
    #[inline]
    fn threads(&self) -> usize {
        1
    }

    #[inline]
    fn run(&self, tasks: usize, f: &(dyn Fn(usize) + Sync)) {
        for task in 0..tasks {
            f(task);
        }
    }
}
