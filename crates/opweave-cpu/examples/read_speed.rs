// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Says how fast this host reads memory, whenever it is asked: the measure of a comparison that runs beside it.
//!
//! `cargo run --release -p opweave-cpu --example read_speed -- THREADS MIB`
//!
//! Answers every line of its standard input with the bytes that it read in a second, once, out of so many MiB in huge pages.

use std::io::{BufRead, stdin};
use std::num::NonZero;
use std::time::Instant;

use opweave_cpu::{ceilings, simd::Isa};
use opweave_device::Buffer;
use opweave_device::cpu::{HostBuffer, Pool};
use opweave_tensor::DeviceId;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sizes = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let (Some(threads), Some(mib)) = (sizes.next(), sizes.next()) else {
        return Err("give the number of threads and of MiB".into());
    };
    let pool = Pool::new(NonZero::new(threads?).ok_or("at least one thread")?)?;
    let bytes = mib? << 20;
    let buffer = HostBuffer::new(DeviceId::CPU, bytes, 64)?;
    println!("ready");
    for line in stdin().lock().lines() {
        line?;
        let begin = Instant::now();
        // SAFETY: the buffer has as many bytes, and nobody writes them.
        unsafe { ceilings::read(Isa::best(), &pool, buffer.data(), bytes) };
        println!("{}", bytes as f64 / begin.elapsed().as_secs_f64());
    }
    Ok(())
}
