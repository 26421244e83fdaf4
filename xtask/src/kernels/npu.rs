// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The Ascend C kernels: compiled by CANN's compiler where there is one, or for this processor by its own, emulated.

use std::fs;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand};
use opweave_kernels_npu::{CHIPS, Images, Index, KERNELS, source_hash};
use tempfile::TempDir;

use super::headers;
use crate::process::Program;

/// What to do with the Ascend C kernels.
#[derive(Subcommand)]
pub(crate) enum Npu {
    /// Compile the kernels with bisheng or ccec, where a CANN toolkit is found
    Build(Out),
    /// Compile the kernels for this processor, emulated, to be loaded through the double of CANN's runtime
    Host(Out),
    /// Compare what the loader takes CANN's functions for with the vendor's headers, where a package with them can be fetched
    Headers,
    /// Break each rule of the emulation and see that it is noticed; run every kernel against its definition
    Rules,
}

/// Where to.
#[derive(Args)]
pub(crate) struct Out {
    /// The folder of images and their index [default: target/kernels-npu or target/kernels-npu-host]
    #[arg(long)]
    out: Option<PathBuf>,
}

/// The package of sources.
pub(crate) const PACKAGE: &str = "kernels-npu";
/// The folder of images.
const IMAGES: &str = "target/kernels-npu";

/// Runs the command in the workspace at `root`.
///
/// # Errors
/// If a kernel does not compile or a rule is not noticed. No toolkit is no error: it is said.
pub(crate) fn run(root: &Path, command: &Npu) -> Result<()> {
    // The scripts run elsewhere.
    let folder = |Out { out }: &Out, otherwise: &str| match out {
        Some(out) => absolute(out).context("failed to read the path"),
        None => Ok(root.join(otherwise)),
    };
    match command {
        Npu::Build(out) => build(root, &folder(out, IMAGES)?).map(drop),
        Npu::Host(out) => host(root, &folder(out, "target/kernels-npu-host")?),
        Npu::Headers => headers::run(root),
        Npu::Rules => rules(root),
    }
}

/// The rules, and a build where it can be done.
///
/// # Errors
/// As for [`run`].
pub(crate) fn check(root: &Path) -> Result<()> {
    rules(root)?;
    build(root, &root.join(IMAGES)).map(drop)
}

/// The exit code of the script that builds images: there is no toolkit.
const NO_TOOLKIT: i32 = 3;

/// Builds images into `out`, where a toolkit is found, and says whether it was.
///
/// # Errors
/// If a kernel does not compile, or what came out is not what the library takes.
pub(crate) fn build(root: &Path, out: &Path) -> Result<bool> {
    built(out, Program::new("sh", &root.join(PACKAGE)))
}

fn built(out: &Path, shell: Program) -> Result<bool> {
    let fresh = fresh(out)?;
    match shell.arg("build.sh").arg(fresh.path()).arg(source_hash()).code()? {
        0 => {}
        NO_TOOLKIT => {
            println!("npu kernels: not built, there is no CANN toolkit; their rows say `not built`");
            return Ok(false);
        }
        code => bail!("build.sh ended with exit code {code}"),
    }
    let images = Images::read(fresh.path()).context("failed to read what was built")?;
    for kernel in &KERNELS {
        images.image(kernel.stem).with_context(|| format!("failed to take the image of {}", kernel.stem))?;
    }
    ensure!(
        images.chips() == CHIPS,
        "build.sh builds for {}, expected {}",
        images.chips().join(", "),
        CHIPS.join(", ")
    );
    put(fresh, out)?;
    Ok(true)
}

/// A run of the script that compiles for this processor; `CXX` names the compiler, else it is g++.
fn emulated(package: &Path, what: &str, name: &str, target: &Path) -> Result<()> {
    let script = Program::new("sh", package).arg("tests/emulation/build.sh").arg(what).arg(name).arg(target);
    script.run().with_context(|| format!("failed to compile {name}"))
}

fn host(root: &Path, out: &Path) -> Result<()> {
    let package = root.join(PACKAGE);
    let fresh = fresh(out)?;
    for kernel in &KERNELS {
        let target = fresh.path().join(format!("{}.o", kernel.stem));
        emulated(&package, "kernel", &format!("{}/{}", kernel.family, kernel.stem), &target)?;
    }
    Index::write(fresh.path(), "g++ (emulated, not run on hardware)").context("failed to write the index")?;
    put(fresh, out)
}

/// A folder beside `out` to build in.
fn fresh(out: &Path) -> Result<TempDir> {
    let parent = out.parent().unwrap_or(out);
    fs::create_dir_all(parent).with_context(|| format!("failed to create {}", parent.display()))?;
    tempfile::Builder::new().prefix(".partial-").tempdir_in(parent).context("failed to create a folder")
}

/// Puts what was built in the place of what was there.
fn put(fresh: TempDir, out: &Path) -> Result<()> {
    match fs::remove_dir_all(out) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("failed to remove {}", out.display()));
        }
        _ => {}
    }
    fs::rename(fresh.keep(), out).with_context(|| format!("failed to put {} in place", out.display()))?;
    println!("npu kernels: {} images in {}", KERNELS.len(), out.display());
    Ok(())
}

fn rules(root: &Path) -> Result<()> {
    let package = root.join(PACKAGE);
    let folder = tempfile::tempdir().context("failed to create a folder")?;
    for program in ["rules", "kernels"] {
        let binary = folder.path().join(program);
        emulated(&package, "program", program, &binary)?;
        // Once as the processor divides, and once with quotients, roots and exponentials two places off.
        for places in ["0", "2"] {
            Program::new(&binary, &package).env("OPWEAVE_EMULATED_ULP", places).run()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A compiler and a linker whose last words are `INPUT -o OUTPUT`.
    const COPIES: &str = "#!/bin/sh\nwhile [ $# -gt 3 ]; do shift; done\ncp \"$1\" \"$3\"\n";

    #[test]
    fn what_the_script_builds_is_taken_and_no_toolkit_is_an_answer() {
        let root = crate::workspace::root().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (home, out) = (folder.path().join("cann"), folder.path().join("images"));
        let shell = || {
            let shell = Program::new("sh", &root.join(PACKAGE)).env("ASCEND_HOME_PATH", &home);
            shell.env("ASCEND_TOOLKIT_HOME", "")
        };
        if !Path::new("/usr/local/Ascend").exists() {
            assert!(!built(&out, shell()).unwrap() && !out.exists());
        }
        fs::create_dir_all(home.join("bin")).unwrap();
        for name in ["bisheng", "ld.lld"] {
            fs::write(home.join("bin").join(name), COPIES).unwrap();
            fs::set_permissions(home.join("bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        assert!(built(&out, shell()).unwrap());
        let images = Images::read(&out).unwrap();
        assert_eq!(images.compiler(), home.join("bin/bisheng").to_str().unwrap());
        let image = images.image("rms_norm").unwrap().path;
        let source = root.join(PACKAGE).join("normalization/rms_norm.cpp");
        assert_eq!(fs::read(image).unwrap(), fs::read(source).unwrap());

        // A compiler that fails leaves what was there.
        fs::write(home.join("bin/bisheng"), "#!/bin/sh\nexit 1\n").unwrap();
        assert!(built(&out, shell()).unwrap_err().to_string().contains("exit code 1"));
        assert!(Images::read(&out).is_ok());
    }
}
