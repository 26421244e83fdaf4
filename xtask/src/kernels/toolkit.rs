// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The CUDA compiler: a local toolkit, or five Python wheels.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, bail};

use crate::process::Program;

/// Where the wheels are installed, in the workspace.
pub(crate) const FOLDER: &str = ".cuda";

/// All five pinned, and installed without their own idea of dependencies: the compiler's metadata would take newer companions
/// that do not fit it.
const WHEELS: [&str; 5] = [
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
];

/// A compiler that was asked for its version.
#[derive(Debug)]
pub(crate) struct Toolkit {
    pub nvcc: PathBuf,
    pub version: String,
}

impl Toolkit {
    /// The toolkit of `CUDA_HOME`, else the one on `PATH`, else the wheels if they are installed.
    ///
    /// # Errors
    /// If `CUDA_HOME` holds none, or the compiler does not answer.
    pub(crate) fn find(root: &Path) -> Result<Option<Toolkit>> {
        let home = env::var_os("CUDA_HOME").filter(|home| !home.is_empty());
        match local(home.as_deref(), env::var_os("PATH").as_deref())?.or_else(|| installed(root)) {
            None => Ok(None),
            Some(nvcc) => {
                let version = version(&nvcc)?;
                Ok(Some(Toolkit { nvcc, version }))
            }
        }
    }

    /// The same, and the wheels are fetched if there is none.
    ///
    /// # Errors
    /// As for [`Toolkit::find`]; if the wheels cannot be fetched.
    pub(crate) fn find_or_fetch(root: &Path) -> Result<Toolkit> {
        if let Some(toolkit) = Toolkit::find(root)? {
            return Ok(toolkit);
        }
        fetch(root).context(
            "failed to get a CUDA compiler: there is no toolkit (CUDA_HOME, nvcc on PATH), and its Python wheels could not be \
             installed, which needs python3 with venv and a package index once",
        )?;
        Toolkit::find(root)?.context("the wheels hold no nvcc")
    }
}

/// nvcc of a toolkit on this machine. A `CUDA_HOME` that was set is meant: it does not fall back.
fn local(home: Option<&OsStr>, path: Option<&OsStr>) -> Result<Option<PathBuf>> {
    if let Some(home) = home {
        let nvcc = Path::new(home).join("bin/nvcc");
        if !nvcc.is_file() {
            bail!("CUDA_HOME is {}, but {} is not there", Path::new(home).display(), nvcc.display());
        }
        return Ok(Some(nvcc));
    }
    let folders = path.map(|path| env::split_paths(path).collect::<Vec<_>>()).unwrap_or_default();
    Ok(folders.into_iter().map(|folder| folder.join("nvcc")).find(|nvcc| nvcc.is_file()))
}

/// nvcc of the wheels, if all of them are there in the versions wanted: the note is written last.
fn installed(root: &Path) -> Option<PathBuf> {
    let folder = root.join(FOLDER);
    let note = fs::read_to_string(folder.join("wheels.txt")).ok()?;
    if note != note_text() {
        return None;
    }
    let python = fs::read_dir(folder.join("lib"))
        .ok()?
        .flatten()
        .find(|entry| entry.path().join("site-packages/nvidia").is_dir());
    let nvidia = python?.path().join("site-packages/nvidia");
    let homes = fs::read_dir(nvidia).ok()?.flatten().map(|entry| entry.path().join("bin/nvcc"));
    homes.into_iter().find(|nvcc| nvcc.is_file())
}

fn note_text() -> String {
    WHEELS.join("\n") + "\n"
}

fn fetch(root: &Path) -> Result<()> {
    let folder = root.join(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("failed to remove {}", folder.display()))?;
    }
    eprintln!("no CUDA toolkit found: installing its compiler from wheels into {FOLDER} (100 MiB)");
    Program::new("python3", root).args("-m venv").arg(&folder).run()?;
    let install = "-m pip install --quiet --disable-pip-version-check --no-deps";
    WHEELS.iter().fold(Program::new(folder.join("bin/python"), root).args(install), Program::arg).run()?;
    fs::write(folder.join("wheels.txt"), note_text()).context("failed to note the wheels")
}

fn version(nvcc: &Path) -> Result<String> {
    let text = Program::new(nvcc, Path::new(".")).arg("--version").read()?;
    parse_version(&text).with_context(|| format!("{} --version says no version:\n{text}", nvcc.display()))
}

/// The version in `nvcc --version`: the last word of "Cuda compilation tools, release 13.0, V13.0.88".
fn parse_version(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.contains("release "))?;
    let word = line.rsplit(' ').next()?;
    word.strip_prefix('V').map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read() {
        let text = "nvcc: NVIDIA (R) Cuda compiler driver\nBuilt on Wed_Aug_20_01:58:59_PM_PDT_2025\nCuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0/compiler.36424714_0\n";
        assert_eq!(parse_version(text).as_deref(), Some("13.0.88"));
        assert_eq!(parse_version("command not found"), None);
    }

    #[test]
    fn a_home_that_was_set_is_meant() {
        let folder = tempfile::tempdir().unwrap();
        let error = local(Some(folder.path().as_os_str()), None).unwrap_err().to_string();
        assert!(error.contains("CUDA_HOME is") && error.contains("bin/nvcc is not there"), "{error}");
        fs::create_dir(folder.path().join("bin")).unwrap();
        fs::write(folder.path().join("bin/nvcc"), "").unwrap();
        let (home, path) = (folder.path().as_os_str(), folder.path().join("bin"));
        assert_eq!(local(Some(home), None).unwrap(), Some(path.join("nvcc")));
        assert_eq!(local(None, Some(path.as_os_str())).unwrap(), Some(path.join("nvcc")));
        assert_eq!(local(None, Some(home)).unwrap(), None);
    }

    #[test]
    fn wheels_count_once_all_of_them_are_installed() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join(FOLDER).join("lib/python3.11/site-packages/nvidia/cu13/bin");
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("nvcc"), "").unwrap();
        assert_eq!(installed(root.path()), None, "interrupted");
        fs::write(root.path().join(FOLDER).join("wheels.txt"), "nvidia-cuda-nvcc==12.0\n").unwrap();
        assert_eq!(installed(root.path()), None, "other versions");
        fs::write(root.path().join(FOLDER).join("wheels.txt"), note_text()).unwrap();
        assert_eq!(installed(root.path()), Some(home.join("nvcc")));
    }
}
