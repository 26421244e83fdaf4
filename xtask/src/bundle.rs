// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! What a machine with a GPU and without Rust needs: the binary, the kernel images, the programs that measure other libraries,
//! and a script that validates, sanitises and times.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::kernels;
use crate::process::Program;

/// The script of the bundle.
const SCRIPT: &str = include_str!("bundle/run.sh");

/// The adapters of other libraries.
const REFERENCES: &str = "suites/references";

/// Where the bundle goes unless told otherwise.
const FOLDER: &str = "target/bundle";

/// Builds the binary and writes the bundle, replacing an older one.
///
/// # Errors
/// If the images do not pass their check, if the binary does not build, or if a file cannot be written.
pub(crate) fn run(root: &Path, out: Option<PathBuf>) -> Result<()> {
    // A binary refuses images of other sources, and would say so only on the machine that the bundle is for.
    kernels::checked(root)?;
    let images = root.join(kernels::IMAGES);
    Program::cargo(root).args("build --release --locked --package opweave-cli --bin opweave").run()?;
    let out = out.unwrap_or_else(|| root.join(FOLDER));
    let fresh = out.with_extension("new");
    remove(&fresh)?;
    fs::create_dir_all(&fresh).with_context(|| format!("failed to create {}", fresh.display()))?;
    copy(&root.join("target/release/opweave"), &fresh.join("opweave"))?;
    files(&images, &fresh.join("kernels"))?;
    files(&root.join(REFERENCES), &fresh.join("references"))?;
    // Debugging information is most of the binary, and nobody debugs it there.
    Program::new("strip", root).arg("--strip-debug").arg(fresh.join("opweave")).run()?;
    let revision = Program::new("git", root).args("rev-parse HEAD").read().unwrap_or_default();
    write(&fresh.join("revision"), &revision)?;
    write(&fresh.join("run.sh"), SCRIPT)?;
    remove(&out)?;
    fs::rename(&fresh, &out).with_context(|| format!("failed to move {} to {}", fresh.display(), out.display()))?;
    println!("bundle: {}\nthere: sh run.sh RESULTS", out.display());
    Ok(())
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("failed to remove {}", folder.display()))?;
    }
    Ok(())
}

/// Copies the files of a folder, and no folder in it.
fn files(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("failed to create {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("failed to read {}", from.display()))? {
        let path = entry?.path();
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            copy(&path, &to.join(name))?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("failed to copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("failed to write {}", path.display()))
}
