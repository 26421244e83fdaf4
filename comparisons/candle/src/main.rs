// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! In-cache operators on one thread: opweave against candle.
//!
//! `RAYON_NUM_THREADS=1 cargo run --release [-- FILTER]` in this folder; the filter is `norms` or `activations`. The two take
//! turns in rounds that start with the one and the other alternately; the ratio is that of the medians of the rounds, above 1
//! when opweave is faster. Before anything is timed the results are compared.
//!
//! opweave's side is a prepared call on slices, checked, writing into a buffer that is there; candle's is
//! `candle_nn::ops`, or tensor operations composed for the same result, which allocate theirs. That is how each is used.

mod activations;
mod norms;
mod number;
mod race;

use std::error::Error;

use half::bf16;

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::var("RAYON_NUM_THREADS").as_deref() != Ok("1") {
        return Err("set RAYON_NUM_THREADS=1: the race is on one thread".into());
    }
    let filter = std::env::args().nth(1).unwrap_or_default();
    println!("candle 0.11.1, one thread, median of {} rounds\n", race::ROUNDS);
    println!("| case | opweave us | candle us | ratio |\n| --- | ---: | ---: | ---: |");
    if "norms".contains(&filter) {
        norms::compare::<f32>()?;
        norms::compare::<bf16>()?;
    }
    if "activations".contains(&filter) {
        activations::gated::<f32>()?;
        activations::gated::<bf16>()?;
        activations::probabilities::<f32>()?;
        activations::probabilities::<bf16>()?;
    }
    Ok(())
}
