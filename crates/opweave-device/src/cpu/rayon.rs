// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A `rayon` thread pool as the kernel's threads, for programs that already have one.

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::Parallel;

impl Parallel for rayon::ThreadPool {
    fn threads(&self) -> usize {
        self.current_num_threads().max(1)
    }

    fn run(&self, tasks: usize, f: &(dyn Fn(usize) + Sync)) {
        if tasks <= 1 || self.current_num_threads() <= 1 {
            for task in 0..tasks {
                f(task);
            }
            return;
        }
        self.install(|| (0..tasks).into_par_iter().with_max_len(1).for_each(f));
    }
}
