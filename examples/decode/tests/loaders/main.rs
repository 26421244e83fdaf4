// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Files: what is read right, and what is refused.

#![expect(clippy::unwrap_used, reason = "tests and their helpers: what cannot be set up is a failed test")]

#[path = "../support/mod.rs"]
mod support;

mod configs;
mod gguf;
mod hostile;
mod safetensors;
mod tokens;
mod watch;

use std::io::Cursor;

use opweave_decode::checkpoint::{Checkpoint, Defect};

/// Opens a GGUF file that is in memory.
fn open(bytes: Vec<u8>) -> Result<Checkpoint, Defect> {
    Checkpoint::from_gguf(Box::new(Cursor::new(bytes)))
}

/// What is wrong with it, in words.
fn refusal(bytes: Vec<u8>) -> String {
    open(bytes).err().map_or("nothing is wrong".to_owned(), |defect| defect.to_string())
}
