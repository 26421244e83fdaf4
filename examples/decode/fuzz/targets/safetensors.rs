// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use opweave_decode::CONFIG;
use opweave_decode::checkpoint::Checkpoint;

fuzz_target!(|file: &[u8]| {
    if let Ok(checkpoint) = Checkpoint::from_safetensors(CONFIG.as_bytes(), Box::new(Cursor::new(file.to_vec()))) {
        opweave_decode::read_all(checkpoint);
    }
});
