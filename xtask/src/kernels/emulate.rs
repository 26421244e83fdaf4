// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The kernels on this processor: compiled as they are by the host's C++ compiler, threads as fibers.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use anyhow::{Context, Result, ensure};

use crate::process::Program;

/// Contraction is off since the kernels write every fused operation out; pragmas of loops mean nothing here.
const FLAGS: &str =
    "-std=c++20 -O1 -ffp-contract=off -Wall -Werror -Wno-unknown-pragmas -pthread -Itests/emulation -Iinclude";

/// Compiles and runs each program of `tests/emulation` of the package of kernels.
///
/// # Errors
/// If there is no compiler (`CXX`, else `c++`) or a kernel does not do what its definition says.
pub(crate) fn run(root: &Path) -> Result<()> {
    let folder = tempfile::tempdir().context("failed to create a folder")?;
    let package = root.join("kernels-cuda");
    let programs = programs(&package.join("tests/emulation"))?;
    ensure!(!programs.is_empty(), "the package of kernels has no emulation");
    // Each is one thread's work for up to a minute, so they share the processor.
    let next = AtomicUsize::new(0);
    let take = || -> Result<()> {
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            emulate(&package, program, folder.path())?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        running.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Compiles and runs one program.
fn emulate(package: &Path, program: &Path, folder: &Path) -> Result<()> {
    let binary = folder.join(program.file_stem().unwrap_or_default());
    let compiler = env::var_os("CXX").filter(|name| !name.is_empty()).unwrap_or_else(|| "c++".into());
    // In this order: the emulation's own `ptx.cuh` is found before that of the package.
    let compile = Program::new(compiler, package).args(FLAGS).arg(program);
    let compiled = compile.arg("-o").arg(&binary).run();
    compiled.with_context(|| format!("failed to compile {}, which wants C++20", program.display()))?;
    Program::new(&binary, package).run()
}

/// The sources in `folder`, in the order of their names.
fn programs(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("failed to list {}", folder.display()))?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.with_context(|| format!("failed to list {}", folder.display()))?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "cpp"));
    paths.sort();
    Ok(paths)
}
