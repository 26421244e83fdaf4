// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The built-in thread pool.
//!
//! Workers are started once and parked between runs; a run allocates nothing. A pool serves one run at a time. A second
//! run that arrives meanwhile, from another thread or from inside a task, is done by its own caller: that is always
//! correct, cannot deadlock, and a machine whose threads are all busy would gain nothing from queueing.

use std::any::Any;
use std::num::NonZero;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use super::Parallel;

/// How often a waiting thread looks again before it parks: some fifty microseconds, a few times what a wake-up costs. So
/// calls that follow each other find their workers awake, though their tasks end unevenly and something small comes between
/// (decoding a token is some two hundred calls of that kind, and takes 1.4 times as long with a twentieth of this), and an idle pool
/// soon costs nothing.
const SPINS: u32 = 2000;

type Task = dyn Fn(usize) + Sync;

/// A fixed set of threads that belongs to whoever made it.
///
/// `Pool::new(n)` starts `n - 1` workers: the thread that calls [`Parallel::run`] is the n-th. Dropping the pool ends and
/// joins them.
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

/// The most threads of a pool: more than any machine has, and few enough that starting them cannot exhaust the process.
/// Past some ten thousand, a thread that was started can fail to set itself up, which ends the process.
pub const MAX_THREADS: usize = 1024;

/// The pool could not start its threads.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// More threads than a pool may have.
    #[error("start a pool of {threads} threads: expected 1 to {MAX_THREADS}")]
    TooMany {
        /// The size that was asked for.
        threads: usize,
    },
    /// The operating system refused a thread.
    #[error("start worker {index} of a pool of {threads} threads: {source}")]
    Refused {
        /// Which worker, counted from 1.
        index: usize,
        /// The size that was asked for.
        threads: usize,
        /// What the operating system said.
        source: std::io::Error,
    },
}

struct Shared {
    /// Claimed by the one run that uses the workers.
    busy: AtomicBool,
    /// Counts published runs, so that a waiting worker can look without the lock.
    epoch: AtomicU64,
    /// The next task to hand out; at or past the run's count when none is left.
    next: AtomicUsize,
    /// Workers inside the run; changed under the lock, so that none enters a run that has ended.
    active: AtomicUsize,
    state: Mutex<State>,
    /// A run was published, or the pool is closing.
    work: Condvar,
    /// The last worker left the run, or a worker has begun.
    left: Condvar,
}

struct State {
    run: Option<Run>,
    /// Workers that have begun.
    begun: usize,
    /// Parked workers: where there are none, nobody is to be woken, which would be a call of the system.
    parked: usize,
    /// Whether the caller waits for the last worker to leave.
    waiting: bool,
    closing: bool,
    /// The first panic of a task in this run.
    panic: Option<Box<dyn Any + Send>>,
}

/// A published run. The reference inside outlives every use of it because [`Pool::run`] waits until no worker is inside.
#[derive(Clone, Copy)]
struct Run {
    task: *const Task,
    tasks: usize,
}

// SAFETY: the pointee is `Sync` (part of `Task`) and outlives the run (see `Pool::run`); the pointer itself is data.
unsafe impl Send for Run {}

impl Shared {
    /// The state is only ever left consistent: no code that can panic runs under the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes tasks until none is left. A panicking task ends the hand-out for everybody.
    fn take_tasks(&self, run: Run) {
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
            loop {
                let task = self.next.fetch_add(1, Ordering::Relaxed);
                if task >= run.tasks {
                    break;
                }
                // SAFETY: this thread counts in `active` or is the caller, so the borrow behind the pointer lives.
                unsafe { (*run.task)(task) };
            }
        }));
        if let Err(payload) = outcome {
            self.next.store(run.tasks, Ordering::Relaxed);
            self.lock().panic.get_or_insert(payload);
        }
    }

    fn worker(&self) {
        self.lock().begun += 1;
        self.left.notify_one();
        let mut seen = 0;
        'look: loop {
            for _ in 0..SPINS {
                if self.epoch.load(Ordering::Relaxed) != seen {
                    break;
                }
                std::hint::spin_loop();
            }
            let mut state = self.lock();
            let run = loop {
                if state.closing {
                    return;
                }
                let epoch = self.epoch.load(Ordering::Relaxed);
                match state.run {
                    Some(run) if epoch != seen => {
                        seen = epoch;
                        break run;
                    }
                    _ => {
                        // A run that ended before this worker woke needs no visit.
                        if epoch != seen {
                            seen = epoch;
                            continue 'look;
                        }
                        state.parked += 1;
                        state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                        state.parked -= 1;
                    }
                }
            };
            self.active.fetch_add(1, Ordering::Relaxed);
            drop(state);
            self.take_tasks(run);
            let state = self.lock();
            // What this worker wrote is the caller's to read once it sees that nobody is inside.
            if self.active.fetch_sub(1, Ordering::Release) == 1 && state.waiting {
                self.left.notify_one();
            }
        }
    }

    fn close(&self) {
        self.lock().closing = true;
        self.epoch.fetch_add(1, Ordering::Relaxed);
        self.work.notify_all();
    }
}

impl Pool {
    /// Starts a pool in which `threads` tasks run at once, the caller's thread among them.
    ///
    /// # Errors
    /// [`PoolError::TooMany`] above [`MAX_THREADS`], [`PoolError::Refused`] when the operating system refuses a thread; those
    /// already started are joined.
    pub fn new(threads: NonZero<usize>) -> Result<Pool, PoolError> {
        if threads.get() > MAX_THREADS {
            return Err(PoolError::TooMany { threads: threads.get() });
        }
        let shared = Arc::new(Shared {
            busy: AtomicBool::new(false),
            epoch: AtomicU64::new(0),
            next: AtomicUsize::new(0),
            active: AtomicUsize::new(0),
            state: Mutex::new(State { run: None, begun: 0, parked: 0, waiting: false, closing: false, panic: None }),
            work: Condvar::new(),
            left: Condvar::new(),
        });
        let mut pool = Pool { shared, workers: Vec::with_capacity(threads.get() - 1) };
        for index in 1..threads.get() {
            let shared = Arc::clone(&pool.shared);
            let handle = thread::Builder::new()
                .name(format!("opweave-cpu-{index}"))
                .spawn(move || shared.worker())
                .map_err(|source| PoolError::Refused { index, threads: threads.get(), source })?;
            pool.workers.push(handle);
        }
        // What the system sets up for a thread when it begins is not to fall into a run.
        let mut state = pool.shared.lock();
        while state.begun < pool.workers.len() {
            state = pool.shared.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        Ok(pool)
    }

    /// A pool as wide as the parallelism that the operating system grants this process; one thread when it does not say.
    ///
    /// # Errors
    /// As for [`Pool::new`].
    pub fn with_available_parallelism() -> Result<Pool, PoolError> {
        Pool::new(thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN))
    }
}

impl Parallel for Pool {
    #[inline]
    fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    #[inline]
    fn run(&self, tasks: usize, f: &(dyn Fn(usize) + Sync)) {
        if tasks <= 1 || self.workers.is_empty() || self.shared.busy.swap(true, Ordering::Acquire) {
            for task in 0..tasks {
                f(task);
            }
            return;
        }
        self.run_shared(tasks, f);
    }
}

impl Pool {
    /// The run that holds `busy`.
    #[inline(never)]
    fn run_shared(&self, tasks: usize, f: &(dyn Fn(usize) + Sync)) {
        let shared = &*self.shared;
        // SAFETY: only the lifetime is dropped. No worker can enter the run after `run = None` below, and this function
        // returns, or unwinds, only after those inside have left.
        let task = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static Task>(f) };
        let run = Run { task, tasks };
        shared.next.store(0, Ordering::Relaxed);
        let mut state = shared.lock();
        state.run = Some(run);
        shared.epoch.fetch_add(1, Ordering::Relaxed);
        let parked = state.parked;
        drop(state);
        // The caller takes one task at least, so more helpers than the rest would wake for nothing.
        if parked > 0 {
            if tasks > self.workers.len() {
                shared.work.notify_all();
            } else {
                for _ in 1..tasks {
                    shared.work.notify_one();
                }
            }
        }
        shared.take_tasks(run);

        // Nobody enters any more; those inside have little left.
        shared.lock().run = None;
        for _ in 0..SPINS {
            if shared.active.load(Ordering::Acquire) == 0 {
                break;
            }
            std::hint::spin_loop();
        }
        let mut state = shared.lock();
        while shared.active.load(Ordering::Acquire) > 0 {
            state.waiting = true;
            state = shared.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting = false;
        let payload = state.panic.take();
        drop(state);
        shared.busy.store(false, Ordering::Release);
        if let Some(payload) = payload {
            panic::resume_unwind(payload);
        }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("threads", &self.threads()).finish()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.close();
        for worker in self.workers.drain(..) {
            // A worker catches the panics of its tasks, so there is no payload to lose; and Drop must not panic.
            let _ = worker.join();
        }
    }
}
