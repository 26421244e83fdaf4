// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How long a machine without CANN is kept by the search for it, in processes that have not looked before.
//!
//! `absent [PROCESSES]` starts that many of itself, 200 unless told, and says how long each one's search took: the first, the
//! median, the largest, in microseconds. What stands behind `--once` is one of them: the libraries are looked for, the answer is
//! put into words, and a second question is asked, which is answered from what the first one found.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use opweave_device::BackendState;
use opweave_device_npu::backend;

/// The first and a second question of this process, and the answer.
fn asked() -> (Duration, Duration, BackendState) {
    let start = Instant::now();
    let state = backend().state;
    let first = start.elapsed();
    let start = Instant::now();
    let again = backend().state;
    let second = start.elapsed();
    drop(again);
    (first, second, state)
}

fn once() -> ExitCode {
    let (first, second, state) = asked();
    match state {
        BackendState::Absent(_) => {
            println!("{} {}", first.as_nanos(), second.as_nanos());
            ExitCode::SUCCESS
        }
        other => {
            eprintln!("this machine has CANN: {other:?}");
            ExitCode::FAILURE
        }
    }
}

/// The searches of a process of its own, in microseconds.
fn fresh() -> Result<[f64; 2], String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(this).arg("--once").output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [first, second] if output.status.success() => Ok([first / 1e3, second / 1e3]),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn say(what: &str, mut all: Vec<f64>) {
    let first = all.first().copied().unwrap_or_default();
    all.sort_by(f64::total_cmp);
    let (median, largest) = (all[all.len() / 2], all[all.len() - 1]);
    println!("{what}: first process {first:.1} us, median {median:.1} us, largest {largest:.1} us of {}", all.len());
}

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("--once") {
        return once();
    }
    let processes = argument.and_then(|text| text.parse().ok()).unwrap_or(200_usize).max(1);
    match (0..processes).map(|_| fresh()).collect::<Result<Vec<_>, _>>() {
        Ok(searches) => {
            say("first question", searches.iter().map(|[first, _]| *first).collect());
            say("second question", searches.iter().map(|[_, second]| *second).collect());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
