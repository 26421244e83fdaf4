// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a process that keeps the memory it frees gets for it.

const NAME: &str = "a_block_that_comes_after_another_costs_no_pages";

/// The few words of a harness that runners of tests speak.
fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| asked.iter().any(|argument| argument == word);
    // `--format terse` is the one option that has a value.
    let filtered =
        |argument: &&String| !argument.starts_with('-') && *argument != "terse" && !NAME.contains(argument.as_str());
    let filtered = asked.iter().any(|argument| filtered(&argument));
    match (has("--ignored") || filtered, has("--list")) {
        (true, _) => {}
        (false, true) => println!("{NAME}: test"),
        (false, false) => test(),
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn test() {
    let returned = second_block();
    // 48 of them where all are huge.
    assert!(returned >= 48, "{returned}");
    opweave_device::cpu::keep_freed_memory();
    // The first one of these grows the heap.
    second_block();
    let kept = second_block();
    assert!(kept < 48, "{kept}, without {returned}");
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn test() {
    opweave_device::cpu::keep_freed_memory();
}

/// The pages that a large block costs which comes after another of its size.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn second_block() -> u64 {
    const BYTES: usize = 96 << 20;
    drop(std::hint::black_box(vec![1_u8; BYTES]));
    let before = faults();
    drop(std::hint::black_box(vec![1_u8; BYTES]));
    faults() - before
}

/// Pages that this thread was given since it began.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("the system has it");
    // Counted from the end of the name, which may hold anything: the state is the first field after it, this the eighth.
    let after = stat.rsplit_once(')').expect("a name in brackets").1;
    after.split_whitespace().nth(7).and_then(|field| field.parse().ok()).expect("a number")
}
