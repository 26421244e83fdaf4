// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Taking turns, and agreeing before anything is timed.

use std::error::Error;
use std::time::Instant;

use candle_core::{Storage, Tensor};

use crate::number::Number;

pub(crate) const ROUNDS: usize = 21;
const CALLS: usize = 10;

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Times both in turns and prints the medians of the rounds and their ratio.
pub(crate) fn race(name: &str, mut ours: impl FnMut() -> bool, mut theirs: impl FnMut() -> bool) {
    let time = |f: &mut dyn FnMut() -> bool| {
        let start = Instant::now();
        assert!((0..CALLS).all(|_| f()), "{name}: a call that agreed before fails now");
        start.elapsed().as_secs_f64() * 1e6 / CALLS as f64
    };
    let (mut us, mut them) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS + 2 {
        let pair = if round % 2 == 0 {
            let a = time(&mut ours);
            (a, time(&mut theirs))
        } else {
            let b = time(&mut theirs);
            (time(&mut ours), b)
        };
        // The first two rounds warm up.
        if round >= 2 {
            us.push(pair.0);
            them.push(pair.1);
        }
    }
    let (ours, theirs) = (median(&mut us), median(&mut them));
    println!("| {name} | {ours:.2} | {theirs:.2} | {:.1} |", theirs / ours);
}

/// Both results within a few units of bf16, those below `least` of what that has, or an error.
pub(crate) fn agree<T: Number>(ours: &[T], theirs: &Tensor, least: f32) -> Result<(), Box<dyn Error>> {
    let (storage, _) = theirs.storage_and_layout();
    let Storage::Cpu(storage) = &*storage else { return Err("candle's result is not on the CPU".into()) };
    let theirs = T::slice(storage).ok_or("candle's result has another dtype")?;
    for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
        let (a, b) = (a.float(), b.float());
        if (a - b).abs() > 0.02 * b.abs().max(least) {
            return Err(format!("element {i}: opweave {a}, candle {b}").into());
        }
    }
    Ok(())
}
