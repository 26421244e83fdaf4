// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The fault buffer of the host: the first writer wins, and a taker gets a whole fault.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use opweave_device::{FaultSink, HostFaults, RawFault, operation_code};

fn fault(row: u64) -> RawFault {
    // Operation, clause and row belong together, so that a torn fault shows.
    RawFault { operation: row as u32 ^ 0xabcd, clause: row as u32, row }
}

#[test]
fn the_first_writer_wins_until_it_is_taken() {
    let faults = HostFaults::default();
    assert_eq!(faults.take().unwrap(), None);
    faults.raise(fault(3));
    faults.raise(fault(4));
    assert_eq!(faults.take().unwrap(), Some(fault(3)));
    assert_eq!(faults.take().unwrap(), None);
    faults.raise(fault(5));
    assert_eq!(faults.take().unwrap(), Some(fault(5)));
}

#[test]
fn of_many_writers_at_once_one_wins_and_its_fault_is_whole() {
    for round in 0..200 {
        let faults = HostFaults::default();
        let start = Barrier::new(4);
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let (faults, start) = (&faults, &start);
                scope.spawn(move || {
                    start.wait();
                    faults.raise(fault(round * 4 + writer));
                });
            }
        });
        let taken = faults.take().unwrap().unwrap();
        assert_eq!(taken, fault(taken.row));
        assert_eq!(faults.take().unwrap(), None, "one fault of a round is kept");
    }
}

#[test]
fn of_two_takers_at_once_one_gets_the_fault() {
    // The takers spin for the start of a round, so that both look at the same moment.
    let (faults, started, ended) = (HostFaults::default(), AtomicU64::new(0), AtomicU64::new(0));
    let taken = AtomicUsize::new(0);
    let wait = |counter: &AtomicU64, value: u64| {
        for turn in 0_u32.. {
            if counter.load(Ordering::Acquire) >= value {
                break;
            }
            if turn % 1000 == 999 {
                std::thread::yield_now();
            }
        }
    };
    const ROUNDS: u64 = 3000;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for round in 1..=ROUNDS {
                    wait(&started, round);
                    if let Some(f) = faults.take().unwrap() {
                        assert_eq!(f, fault(round));
                        taken.fetch_add(1, Ordering::Relaxed);
                    }
                    ended.fetch_add(1, Ordering::Release);
                }
            });
        }
        for round in 1..=ROUNDS {
            faults.raise(fault(round));
            started.store(round, Ordering::Release);
            wait(&ended, 2 * round);
        }
    });
    assert_eq!(taken.into_inner() as u64, ROUNDS);
}

#[test]
fn the_device_pointer_shows_three_words() {
    let faults = HostFaults::default();
    faults.raise(RawFault { operation: 7, clause: 2, row: 99 });
    let words = faults.device_pointer().cast::<u64>();
    // SAFETY: the pointer addresses three words of `faults`, which lives, and nobody writes them now.
    let words: Vec<u64> = (0..3).map(|i| unsafe { *words.add(i) }).collect();
    assert_eq!(words[1..], [7 << 32 | 2, 99]);
    assert_ne!(words[0], 0, "the state says that a fault is there");
}

#[test]
fn operation_codes_are_fnv_1a() {
    assert_eq!(operation_code(""), 0x811c_9dc5);
    assert_eq!(operation_code("a"), 0xe40c_292c);
    assert_eq!(operation_code("foobar"), 0xbf9c_f968);
}
