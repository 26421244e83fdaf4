// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use opweave_decode::checkpoint::Checkpoint;

// A configuration, a zero byte, and the safetensors that it meets.
fuzz_target!(|data: &[u8]| {
    let cut = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (config, file) = (&data[..cut], data.get(cut + 1..).unwrap_or_default());
    if let Ok(checkpoint) = Checkpoint::from_safetensors(config, Box::new(Cursor::new(file.to_vec()))) {
        opweave_decode::read_all(checkpoint);
    }
});
