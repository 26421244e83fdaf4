// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Locates: the hash of the sources. Compiles nothing.

#[expect(dead_code, unreachable_pub, reason = "the package and xtask use the rest of it")]
#[path = "src/sources.rs"]
mod sources;

use std::path::PathBuf;
use std::{env, error};

fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo::rerun-if-changed=.");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?);
    println!("cargo::rustc-env=OPWEAVE_NPU_SOURCES={}", sources::hash(&root)?);
    Ok(())
}
