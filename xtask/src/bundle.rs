// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! What a machine with a GPU and without Rust needs: the binary, the kernel images, the programs that measure other libraries,
//! and a script that validates, sanitises and times.

pub(crate) mod npu;

use std::fs;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, Result};
use clap::Args;

use crate::kernels;
use crate::process::Program;

/// The script of the bundle.
const SCRIPT: &str = include_str!("bundle/run.sh");

/// The adapters of other libraries.
const REFERENCES: &str = "suites/references";

/// Where the bundle goes unless told otherwise.
const FOLDER: &str = "target/bundle";

/// What a bundle is for.
#[derive(Args)]
pub(crate) struct Options {
    /// Folder to write, which replaces an older one [default: target/bundle or target/bundle-npu]
    out: Option<PathBuf>,
    /// For a machine with an Ascend card and CANN; an archive is written beside the folder
    #[arg(long)]
    npu: bool,
}

/// Builds the binary and writes the bundle, replacing an older one.
///
/// # Errors
/// If the images do not pass their check, if the binary does not build, or if a file cannot be written.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let out = options.out.as_ref().map(absolute).transpose().context("failed to read the path")?;
    if options.npu { npu::run(root, out).map(drop) } else { cuda(root, out) }
}

fn cuda(root: &Path, out: Option<PathBuf>) -> Result<()> {
    // A binary refuses images of other sources, and would say so only on the machine that the bundle is for.
    kernels::checked(root)?;
    let out = out.unwrap_or_else(|| root.join(FOLDER));
    let fresh = fresh(&out)?;
    binary(root, &fresh)?;
    files(&root.join(kernels::IMAGES), &fresh.join("kernels"))?;
    files(&root.join(REFERENCES), &fresh.join("references"))?;
    write(&fresh.join("run.sh"), SCRIPT)?;
    put(&fresh, &out)?;
    println!("bundle: {}\nthere: sh run.sh RESULTS", out.display());
    Ok(())
}

/// An empty folder beside `out`.
fn fresh(out: &Path) -> Result<PathBuf> {
    let fresh = out.with_extension("new");
    remove(&fresh)?;
    fs::create_dir_all(&fresh).with_context(|| format!("failed to create {}", fresh.display()))?;
    Ok(fresh)
}

/// Puts the bundle in the place of an older one.
fn put(fresh: &Path, out: &Path) -> Result<()> {
    remove(out)?;
    fs::rename(fresh, out).with_context(|| format!("failed to move {} to {}", fresh.display(), out.display()))
}

/// The binary in release mode, and the revision that it is of.
fn binary(root: &Path, bundle: &Path) -> Result<()> {
    Program::cargo(root).args("build --release --locked --package opweave-cli --bin opweave").run()?;
    copy(&root.join("target/release/opweave"), &bundle.join("opweave"))?;
    // Debugging information is most of the binary, and nobody debugs it there.
    Program::new("strip", root).arg("--strip-debug").arg(bundle.join("opweave")).run()?;
    let revision = Program::new("git", root).args("rev-parse HEAD").read().unwrap_or_default();
    write(&bundle.join("revision"), &revision)
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
