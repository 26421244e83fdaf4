// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The kernels on this processor: compiled as they are by the host's C++ compiler, threads as fibers.

use std::env;
use std::path::Path;

use anyhow::{Context, Result};

use crate::process::Program;

/// Contraction is off since the kernels write every fused operation out; pragmas of loops mean nothing here.
const FLAGS: &str = "-std=c++20 -O1 -ffp-contract=off -Wall -Werror -Wno-unknown-pragmas -Itests/emulation -Iinclude";

/// Compiles and runs `tests/emulation` of the package of kernels.
///
/// # Errors
/// If there is no compiler (`CXX`, else `c++`) or a kernel does not do what its definition says.
pub(crate) fn run(root: &Path) -> Result<()> {
    let folder = tempfile::tempdir().context("failed to create a folder")?;
    let (package, binary) = (root.join("kernels-cuda"), folder.path().join("normalization"));
    // In this order: the emulation's own `ptx.cuh` is found before that of the package.
    let compiler = env::var_os("CXX").filter(|name| !name.is_empty()).unwrap_or_else(|| "c++".into());
    let compile = Program::new(compiler, &package).args(FLAGS).arg("tests/emulation/normalization.cpp");
    compile.arg("-o").arg(&binary).run().context("failed to compile the emulation, which wants a C++20 compiler")?;
    Program::new(&binary, &package).run()
}
