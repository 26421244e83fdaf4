// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Formatting, of all files: `cargo fmt` follows `mod` lines, and sees no module that a family's list declares.

use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;

use crate::process::Program;
use crate::tidy::Tree;

/// Whether to write.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Show what differs and change nothing
    #[arg(long)]
    check: bool,
}

/// Formats the tree under `root`, or checks that it is.
///
/// # Errors
/// If a file cannot be parsed, or one would change and may not.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let check = if options.check { "--check" } else { "" };
    let mut cargo = Program::cargo(root).args("fmt --all --quiet").args(check).arg("--");
    for file in Tree::read(root)?.rust().filter(|file| is_listed(&file.path)) {
        cargo = cargo.arg(&file.path);
    }
    cargo.run().context("cargo xtask fmt formats what differs")?;
    Program::cargo(&root.join("tests/outside")).args("fmt").args(check).run()
}

/// Checks that the tree is formatted.
///
/// # Errors
/// As [`run`].
pub(crate) fn check(root: &Path) -> Result<()> {
    run(root, &Options { check: true })
}

/// Whether a family's list may declare the file: `crates/NAME/src/ops/FAMILY/OPERATOR.rs`, or a suite.
fn is_listed(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(parts[..], ["crates", _, "src", "ops" | "suites", _, file] if file != "mod.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_an_operator_is_checked_though_no_mod_line_names_it() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        Program::new("git", root.path()).args("init --quiet .").run().unwrap();
        put("Cargo.toml", "[workspace]\nmembers = [\"crates/a\"]\n");
        put("crates/a/Cargo.toml", "[package]\nname = \"a\"\nedition = \"2024\"\n");
        put("crates/a/src/lib.rs", "pub mod ops;\n");
        put("crates/a/src/ops/mod.rs", "pub mod b;\n");
        put("crates/a/src/ops/b/mod.rs", "macro_rules! m {\n    () => {\n        mod c;\n    };\n}\nm!();\n");
        put("tests/outside/Cargo.toml", "[workspace]\n[package]\nname = \"outside\"\nedition = \"2024\"\n");
        put("tests/outside/src/lib.rs", "");
        put("crates/a/src/ops/b/c.rs", "pub fn c()  {}\n");
        let error = format!("{:#}", check(root.path()).unwrap_err());
        assert!(error.starts_with("cargo xtask fmt formats what differs"), "{error}");
        run(root.path(), &Options { check: false }).unwrap();
        check(root.path()).unwrap();
    }
}
