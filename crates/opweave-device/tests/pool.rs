// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a kernel may rely on from every `Parallel`, and what the built-in pool promises besides.

use std::num::NonZero;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use opweave_device::cpu::{MAX_THREADS, Parallel, Pool, PoolError, Serial};

fn pool(threads: usize) -> Pool {
    Pool::new(NonZero::new(threads).expect("not zero")).expect("the host has threads")
}

fn every_implementation() -> Vec<(&'static str, Box<dyn Parallel>)> {
    #[cfg_attr(not(feature = "rayon"), expect(unused_mut, reason = "the feature adds one"))]
    let mut all: Vec<(&'static str, Box<dyn Parallel>)> = vec![
        ("serial", Box::new(Serial)),
        ("pool of 1", Box::new(pool(1))),
        ("pool of 2", Box::new(pool(2))),
        ("pool of 7", Box::new(pool(7))),
    ];
    #[cfg(feature = "rayon")]
    all.push((
        "rayon",
        Box::new(rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("the host has threads")),
    ));
    all
}

fn count_calls(parallel: &dyn Parallel, tasks: usize) -> Vec<usize> {
    let calls: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
    parallel.run(tasks, &|task| {
        calls[task].fetch_add(1, Ordering::Relaxed);
    });
    calls.into_iter().map(AtomicUsize::into_inner).collect()
}

#[test]
fn every_task_runs_exactly_once() {
    for (name, parallel) in every_implementation() {
        assert!(parallel.threads() >= 1, "{name}");
        for round in 0..200 {
            for tasks in [0, 1, 2, 3, 8, 61] {
                assert_eq!(count_calls(&*parallel, tasks), vec![1; tasks], "{name}, {tasks} tasks, round {round}");
            }
        }
    }
}

#[test]
fn a_panic_reaches_the_caller_and_the_pool_still_works() {
    for (name, parallel) in every_implementation() {
        for bad in [0, 3, 19] {
            let caught = panic::catch_unwind(AssertUnwindSafe(|| {
                parallel.run(20, &|task| assert!(task != bad, "task {bad} fails"));
            }));
            let payload = caught.expect_err(name);
            let text = payload.downcast_ref::<String>().unwrap();
            assert!(text.contains(&format!("task {bad} fails")), "{name}: {text}");
            assert_eq!(count_calls(&*parallel, 33), vec![1; 33], "{name} after the panic");
        }
    }
}

#[test]
fn the_caller_gets_its_panic_only_after_running_tasks_have_ended() {
    let pool = pool(2);
    let both = Barrier::new(2);
    let finished = AtomicUsize::new(0);
    let caught = panic::catch_unwind(AssertUnwindSafe(|| {
        pool.run(2, &|task| {
            both.wait();
            assert!(task != 0, "task 0 fails");
            std::thread::sleep(std::time::Duration::from_millis(50));
            finished.fetch_add(1, Ordering::SeqCst);
        });
    }));
    assert!(caught.is_err());
    assert_eq!(finished.load(Ordering::SeqCst), 1);
}

#[test]
fn a_run_inside_a_task_is_done_inline() {
    for (name, parallel) in every_implementation() {
        let inner = AtomicUsize::new(0);
        parallel.run(9, &|_| {
            parallel.run(5, &|_| {
                inner.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(inner.into_inner(), 45, "{name}");
    }
}

#[test]
fn concurrent_callers_get_their_own_tasks_done() {
    let pool = Arc::new(pool(3));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let pool = Arc::clone(&pool);
            scope.spawn(move || {
                for tasks in 0..300 {
                    assert_eq!(count_calls(&*pool, tasks % 40), vec![1; tasks % 40]);
                }
            });
        }
    });
}

#[test]
fn tasks_run_on_several_threads_at_once() {
    // Each task waits for the other: with fewer than two threads this would never end.
    let pool = pool(2);
    for _ in 0..100 {
        let both = Barrier::new(2);
        pool.run(2, &|_| {
            both.wait();
        });
    }
}

#[test]
fn dropping_the_pool_joins_its_workers() {
    struct Gone(Arc<AtomicUsize>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    thread_local! {
        static MARK: std::cell::RefCell<Option<Gone>> = const { std::cell::RefCell::new(None) };
    }
    // A thread-local dies when its thread has ended, which is what joining waits for.
    let ended = Arc::new(AtomicUsize::new(0));
    let pool = pool(3);
    let all = Barrier::new(3);
    let caller = std::thread::current().id();
    pool.run(3, &|_| {
        if std::thread::current().id() != caller {
            MARK.with(|mark| *mark.borrow_mut() = Some(Gone(Arc::clone(&ended))));
        }
        all.wait();
    });
    assert_eq!(ended.load(Ordering::SeqCst), 0);
    drop(pool);
    assert_eq!(ended.load(Ordering::SeqCst), 2);
}

#[test]
fn an_idle_pool_can_be_dropped_at_once() {
    for threads in 1..9 {
        drop(pool(threads));
    }
}

#[test]
fn a_pool_wider_than_any_machine_is_refused_before_a_thread_starts() {
    let refused = Pool::new(NonZero::new(MAX_THREADS + 1).expect("not zero"));
    assert!(matches!(refused, Err(PoolError::TooMany { threads }) if threads == MAX_THREADS + 1));
}
