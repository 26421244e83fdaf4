// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The files that tidy reads: tracked ones, and untracked ones that git does not ignore.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::source::Source;

/// The working tree's text files, sorted by path.
pub(crate) struct Tree {
    pub files: Vec<File>,
}

/// One file; `path` is relative to the root with forward slashes.
pub(crate) struct File {
    pub path: String,
    /// The content, empty for what is not UTF-8 text.
    pub text: String,
    /// A symbolic link: its content is some other file's.
    pub link: bool,
    /// Whether the whole file is test code.
    pub test: bool,
}

impl Tree {
    /// Reads the tree under `root`.
    pub(crate) fn read(root: &Path) -> Result<Tree> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .context("failed to run git ls-files")?;
        if !output.status.success() {
            bail!("git ls-files in {} says: {}", root.display(), String::from_utf8_lossy(&output.stderr).trim());
        }
        let mut files = Vec::new();
        for path in String::from_utf8(output.stdout).context("a tracked path is not UTF-8")?.split_terminator('\0') {
            let full = root.join(path);
            // A file that was removed but is still in the index is no concern of tidy.
            let Ok(meta) = full.symlink_metadata() else { continue };
            let link = meta.is_symlink();
            let text = if link {
                String::new()
            } else {
                let bytes = fs::read(&full).with_context(|| format!("failed to read {path}"))?;
                String::from_utf8(bytes).unwrap_or_default()
            };
            files.push(File { path: path.to_owned(), text, link, test: false });
        }
        Ok(Tree::new(files))
    }

    /// A tree of the given files; marks those that are test code.
    pub(crate) fn new(mut files: Vec<File>) -> Tree {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        let declared: HashSet<String> = files.iter().filter(|f| f.is_rust()).flat_map(declared_test_paths).collect();
        for file in &mut files {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            file.test = file.is_rust()
                && (name == "tests.rs"
                    || file.path.split('/').any(|part| part == "tests" || part == "benches")
                    || declared
                        .iter()
                        .any(|path| file.path == format!("{path}.rs") || file.path.starts_with(&format!("{path}/"))));
        }
        Tree { files }
    }

    /// The Rust files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// Text of the file at `path`.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }

    /// Whether a file or folder of that path is in the tree.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.path == path || file.path.starts_with(&format!("{path}/")))
    }
}

impl File {
    /// Whether this is Rust source.
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs") && !self.link
    }

    /// The crate that the file belongs to: `NAME` of `crates/NAME`, or `examples/NAME`.
    pub(crate) fn package(&self) -> Option<&str> {
        if let Some(rest) = self.path.strip_prefix("examples/") {
            return rest.split_once('/').map(|(name, _)| &self.path[.."examples/".len() + name.len()]);
        }
        self.path.strip_prefix("crates/").and_then(|rest| rest.split('/').next())
    }

    /// The file, lexed.
    pub(crate) fn source(&self) -> Source<'_> {
        Source::new(&self.text, self.test)
    }
}

/// Paths, without `.rs`, of the modules that `file` declares as `#[cfg(test)] mod name;`.
fn declared_test_paths(file: &File) -> Vec<String> {
    if !file.text.contains("cfg(test)") {
        return Vec::new();
    }
    let stem = file.path.strip_suffix(".rs").unwrap_or(&file.path);
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let base = if matches!(name, "lib" | "main" | "mod") { folder } else { stem };
    Source::new(&file.text, false).test_modules().iter().map(|module| format!("{base}/{module}")).collect()
}

#[cfg(test)]
pub(crate) fn tree_of(files: &[(&str, &str)]) -> Tree {
    let file = |&(path, text): &(&str, &str)| File { path: path.into(), text: text.into(), link: false, test: false };
    Tree::new(files.iter().map(file).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_are_known_by_place_and_by_declaration() {
        let tree = tree_of(&[
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod probe;\nmod real;\n"),
            ("crates/a/src/probe.rs", ""),
            ("crates/a/src/probe/deep.rs", ""),
            ("crates/a/src/real.rs", "#[cfg(test)]\nmod sub;"),
            ("crates/a/src/real/sub.rs", ""),
            ("crates/a/tests/it.rs", ""),
            ("crates/a/benches/it.rs", ""),
        ]);
        let tests: Vec<&str> = tree.files.iter().filter(|f| f.test).map(|f| f.path.as_str()).collect();
        assert_eq!(
            tests,
            [
                "crates/a/benches/it.rs",
                "crates/a/src/probe.rs",
                "crates/a/src/probe/deep.rs",
                "crates/a/src/real/sub.rs",
                "crates/a/tests/it.rs"
            ]
        );
    }

    #[test]
    fn the_package_is_the_crate_folder() {
        let files =
            ["crates/opweave-cpu/src/lib.rs", "examples/decode/src/lib.rs", "examples/lib.rs", "xtask/src/main.rs"];
        let tree = tree_of(&files.map(|path| (path, "")));
        let packages =
            files.map(|path| tree.files.iter().find(|file| file.path == path).and_then(|file| file.package()));
        assert_eq!(packages, [Some("opweave-cpu"), Some("examples/decode"), None, None]);
    }
}
