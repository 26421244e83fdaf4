// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Runs of the compiler.
//!
//! An image appears under its name when it is whole, and the index after it. Whatever ends the build in between leaves an image
//! that the index does not know, which the next build replaces.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use anyhow::{Context, Result, anyhow, bail};
use opweave_kernels_cuda::{ImageFacts, Index, KernelFacts, sources};
use tempfile::TempDir;

use super::toolkit::Toolkit;
use super::{Kernel, Package, ptxas, state};

/// Unfinished output lies in folders of this name beside the images.
const PARTIAL: &str = ".partial-";

/// Compiles `kernels` for their targets, or for those of `targets` that they have, `jobs` at a time.
///
/// # Errors
/// The first failure by the kernels' order; the others are finished and kept.
pub(crate) fn all(
    package: &Package,
    toolkit: &Toolkit,
    kernels: &[&Kernel],
    targets: &[String],
    jobs: NonZeroUsize,
) -> Result<()> {
    let images = package.images();
    fs::create_dir_all(&images).with_context(|| format!("failed to create {}", images.display()))?;
    remove_partial(&images)?;
    let index = Mutex::new(current(package)?);
    let next = AtomicUsize::new(0);
    let errors = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..jobs.get().min(kernels.len()) {
            scope.spawn(|| {
                while let Some((at, kernel)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    kernels.get(at).map(|k| (at, k))
                } {
                    if let Err(error) = one(package, toolkit, kernel, targets, &index) {
                        lock(&errors).push((at, error));
                    }
                }
            });
        }
    });
    let errors = errors.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    match errors.into_iter().min_by_key(|(at, _)| *at) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// The index without kernels that are gone; their files are removed.
fn current(package: &Package) -> Result<Index> {
    let mut index = package.index();
    let known: BTreeSet<&str> = package.kernels.iter().map(|kernel| kernel.description.stem.as_str()).collect();
    let before = index.images.len();
    index.images.retain(|image| known.contains(image.stem.as_str()));
    if index.images.len() != before {
        write_index(package, &index)?;
    }
    for entry in fs::read_dir(package.images()).context("failed to list images")? {
        let path = entry.context("failed to list images")?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|extension| extension == "fatbin") && !known.contains(name.as_str()) {
            fs::remove_file(&path).with_context(|| format!("failed to remove {}", path.display()))?;
        }
    }
    Ok(index)
}

fn remove_partial(images: &Path) -> Result<()> {
    for entry in fs::read_dir(images).context("failed to list images")? {
        let entry = entry.context("failed to list images")?;
        if entry.file_name().to_string_lossy().starts_with(PARTIAL) {
            fs::remove_dir_all(entry.path()).with_context(|| format!("failed to remove {}", entry.path().display()))?;
        }
    }
    Ok(())
}

fn one(package: &Package, toolkit: &Toolkit, kernel: &Kernel, chosen: &[String], index: &Mutex<Index>) -> Result<()> {
    let description = &kernel.description;
    let stem = &description.stem;
    let wanted = |target: &&String| chosen.is_empty() || chosen.contains(target);
    let targets: Vec<String> = description.targets.iter().filter(wanted).cloned().collect();
    if targets.is_empty() {
        return Ok(());
    }
    let images = package.images();
    let folder = tempfile::Builder::new().prefix(PARTIAL).tempdir_in(&images).context("failed to create a folder")?;
    let flags = state::flags(&targets);
    let output = nvcc(package, toolkit, kernel, &flags, &folder)?;
    let kernels = ptxas::parse(&output).with_context(|| format!("failed to read what the assembler says of {stem}"))?;
    agree(kernel, &targets, &kernels)?;
    let partial = folder.path().join("image");
    let bytes = fs::read(&partial).with_context(|| format!("nvcc wrote no image of {stem}"))?;
    let facts = ImageFacts {
        stem: stem.clone(),
        file: format!("{stem}.fatbin"),
        bytes: bytes.len() as u64,
        sha256: sources::sha256(&bytes),
        source_hash: kernel.sources.hash.clone(),
        flags,
        compiler: toolkit.version.clone(),
        targets,
        kernels,
    };
    eprintln!("compiled {stem}: {} kernels, {} KB", facts.kernels.len(), facts.bytes / 1000);
    let mut index = lock(index);
    fs::rename(&partial, images.join(&facts.file))
        .with_context(|| format!("failed to put the image of {stem} in place"))?;
    index.images.retain(|image| image.stem != *stem);
    index.images.push(facts);
    index.images.sort_by(|a, b| a.stem.cmp(&b.stem));
    write_index(package, &index)
}

/// Compiles one source into `folder` and returns what the assembler said.
fn nvcc(package: &Package, toolkit: &Toolkit, kernel: &Kernel, flags: &[String], folder: &TempDir) -> Result<String> {
    let source = kernel.description.source();
    let list = folder.path().join("files");
    let mut command = Command::new(&toolkit.nvcc);
    // NVCC_CCBIN is nvcc's own variable for the host compiler, and reaches it.
    command.args(flags).arg(format!("-I{}", sources::INCLUDE)).arg("-MD").arg("-MF").arg(&list);
    command.arg("-o").arg(folder.path().join("image")).arg(&source).current_dir(&package.root).stdin(Stdio::null());
    let output = command.output().with_context(|| format!("failed to start {}", toolkit.nvcc.display()))?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        let hint = if said.contains("unsupported GNU version") || said.contains("host compiler") || said.contains("gcc")
        {
            "\nNVCC_CCBIN names another host compiler"
        } else {
            ""
        };
        return Err(anyhow!("{}{hint}", said.trim_end())).with_context(|| format!("nvcc failed on {source}"));
    }
    let read = fs::read_to_string(&list).with_context(|| format!("nvcc wrote no list of the files of {source}"))?;
    let missed = missed(&read, &package.root, &kernel.sources.files);
    if !missed.is_empty() {
        bail!("{source} includes {} in a way that its hash does not see", missed.join(", "));
    }
    Ok(said)
}

/// Files of the package that the compiler read and the hash does not cover. `list` is a rule of make.
fn missed(list: &str, root: &Path, known: &[String]) -> Vec<String> {
    let (_, files) = list.split_once(':').unwrap_or(("", list));
    let mut missed = Vec::new();
    for word in files.split_whitespace().filter(|word| *word != "\\") {
        let path = Path::new(word);
        // A path that is not absolute is from the package's root, where the compiler ran.
        let inside = if path.is_absolute() { path.strip_prefix(root).ok() } else { Some(path) };
        let Some(inside) = inside.and_then(|path| root.join(path).canonicalize().ok()) else { continue };
        let Ok(inside) = inside.strip_prefix(root.canonicalize().as_deref().unwrap_or(root)) else { continue };
        let name = inside.to_string_lossy().replace('\\', "/");
        if !known.contains(&name) {
            missed.push(name);
        }
    }
    missed
}

/// The entries that were compiled are those of the description.
fn agree(kernel: &Kernel, targets: &[String], found: &[KernelFacts]) -> Result<()> {
    let description = &kernel.description;
    let machine = |target: &&String| target.starts_with("sm_");
    let wanted: BTreeSet<(String, &str)> = description
        .entries()
        .into_iter()
        .flat_map(|entry| targets.iter().filter(machine).map(move |target| (entry.name.clone(), target.as_str())))
        .collect();
    let found: BTreeSet<(String, &str)> =
        found.iter().map(|kernel| (kernel.name.clone(), kernel.target.as_str())).collect();
    // Without machine code there is no assembler to say anything.
    if let Some((name, target)) = wanted.difference(&found).next() {
        bail!("{} has no {name} for {target}, which its description lists", description.source());
    }
    match found.difference(&wanted).next() {
        Some((name, _)) => bail!("{} has {name}, which its description does not list", description.source()),
        None => Ok(()),
    }
}

fn write_index(package: &Package, index: &Index) -> Result<()> {
    let images = package.images();
    let text = index.to_json().context("failed to write the index")?;
    let file = tempfile::Builder::new().prefix(PARTIAL).tempdir_in(&images).context("failed to create a folder")?;
    let partial = file.path().join("index.json");
    fs::write(&partial, text).context("failed to write the index")?;
    fs::rename(&partial, images.join("index.json")).context("failed to put the index in place")
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // What a panicking thread held is a list that was whole before and after.
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_the_hash_does_not_see_is_found() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.cu", "a.cuh"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let list = format!("image : a.cu \\\n    {}/./a.cuh \\\n    /usr/include/stdint.h\n", folder.path().display());
        assert_eq!(missed(&list, folder.path(), &["a.cu".into()]), ["a.cuh"]);
        assert!(missed(&list, folder.path(), &["a.cu".into(), "a.cuh".into()]).is_empty());
    }
}
