// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What an image is made of. The build script, this crate and `cargo xtask kernels` all read it from here.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The folder that `#include <..>` looks in, from the package's root.
pub const INCLUDE: &str = "include";

/// The files of one kernel: its source, every header of this package that it includes, directly or not, its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// Paths from the package's root, with forward slashes, sorted.
    pub files: Vec<String>,
    /// SHA-256 over paths and contents.
    pub hash: String,
}

impl Sources {
    /// The files of `source` (`FAMILY/STEM.cu`) in the package at `root`.
    ///
    /// # Errors
    /// If a file cannot be read, or includes by quotes what is not there.
    pub fn of(root: &Path, source: &str) -> io::Result<Sources> {
        let mut files = BTreeSet::new();
        let mut open = vec![source.to_owned()];
        while let Some(path) = open.pop() {
            if files.insert(path.clone()) {
                let text = read(root, &path)?;
                open.extend(includes(root, &path, &String::from_utf8_lossy(&text))?);
            }
        }
        files.insert(source.strip_suffix(".cu").unwrap_or(source).to_owned() + ".toml");
        let mut hash = Sha256::new();
        for path in &files {
            let text = read(root, path)?;
            // Lengths, so that no two sets of files run together to the same bytes.
            hash.update(format!("{path}\n{}\n", text.len()));
            hash.update(&text);
        }
        Ok(Sources { files: files.into_iter().collect(), hash: hex(&hash.finalize()) })
    }
}

/// The stems' sources in the package at `root`: `FAMILY/STEM.cu`, sorted.
///
/// # Errors
/// If a folder cannot be read.
pub fn kernels(root: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for family in fs::read_dir(root)? {
        let family = family?;
        if !family.file_type()?.is_dir() {
            continue;
        }
        for file in fs::read_dir(family.path())? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "cu") {
                let names = [family.file_name(), path.file_name().unwrap_or_default().to_owned()];
                found.push(names.map(|name| name.to_string_lossy().into_owned()).join("/"));
            }
        }
    }
    // Stems are unique, families are not part of an image's name.
    found.sort_by(|a, b| stem(a).cmp(stem(b)));
    Ok(found)
}

/// The stem of `FAMILY/STEM.cu`.
#[must_use]
pub fn stem(source: &str) -> &str {
    let name = source.rsplit('/').next().unwrap_or(source);
    name.strip_suffix(".cu").unwrap_or(name)
}

/// SHA-256 in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(root: &Path, path: &str) -> io::Result<Vec<u8>> {
    fs::read(root.join(path)).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))
}

/// The headers of this package that a text includes. Whether a condition takes an include out is not asked: a file too many
/// in the hash costs a build, one too few a stale image.
fn includes(root: &Path, path: &str, text: &str) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix('#') else { continue };
        let Some(rest) = rest.trim_start().strip_prefix("include") else { continue };
        let rest = rest.trim();
        if let Some(name) = quoted(rest, '"', '"') {
            let folder = Path::new(path).parent().unwrap_or(Path::new(""));
            let target = folder.join(name);
            if !root.join(&target).is_file() {
                return Err(io::Error::new(
                    io::ErrorKind::NotFound,
                    format!("{path} includes {name:?}, which is not there"),
                ));
            }
            found.push(slashes(&target));
        } else if let Some(name) = quoted(rest, '<', '>') {
            // The toolkit's and the system's headers are the compiler's, whose version is recorded.
            let target = Path::new(INCLUDE).join(name);
            if root.join(&target).is_file() {
                found.push(slashes(&target));
            }
        }
    }
    Ok(found)
}

fn quoted(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.split_once(close).map(|(name, _)| name)
}

fn slashes(path: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in PathBuf::from(path).components() {
        match part {
            std::path::Component::ParentDir => drop(parts.pop()),
            other => parts.push(other.as_os_str().to_string_lossy().into_owned()),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    const FILES: [(&str, &str); 6] = [
        ("norm/a.cu", "#include <cstdint>\n#include \"a.cuh\"\n"),
        ("norm/a.toml", "stem = \"a\"\n"),
        ("norm/a.cuh", "  #  include <opweave/deep.cuh>\n#include \"../shared/b.cuh\"\n"),
        ("shared/b.cuh", "#include \"../norm/a.cuh\"\n"),
        ("include/opweave/deep.cuh", "// deep\n"),
        ("include/opweave/other.cuh", "// not of a\n"),
    ];

    #[test]
    fn headers_are_followed_through_headers_and_cycles() {
        let folder = package(&FILES);
        let sources = Sources::of(folder.path(), "norm/a.cu").unwrap();
        assert_eq!(
            sources.files,
            ["include/opweave/deep.cuh", "norm/a.cu", "norm/a.cuh", "norm/a.toml", "shared/b.cuh"]
        );
        assert_eq!(kernels(folder.path()).unwrap(), ["norm/a.cu"]);
    }

    #[test]
    fn an_edit_of_any_of_the_files_changes_the_hash_and_one_of_another_does_not() {
        let folder = package(&FILES);
        let hash = || Sources::of(folder.path(), "norm/a.cu").unwrap().hash;
        let before = hash();
        for (path, text) in FILES {
            fs::write(folder.path().join(path), format!("{text}// edited\n")).unwrap();
            assert_eq!(hash() == before, path.ends_with("other.cuh"), "{path}");
            fs::write(folder.path().join(path), text).unwrap();
            assert_eq!(hash(), before, "{path}");
        }
    }

    #[test]
    fn an_include_of_nothing_is_an_error_that_names_it() {
        let folder = package(&[("norm/a.cu", "#include \"gone.cuh\"\n"), ("norm/a.toml", "")]);
        let error = Sources::of(folder.path(), "norm/a.cu").unwrap_err().to_string();
        assert!(error.contains("norm/a.cu includes \"gone.cuh\""), "{error}");
        fs::remove_file(folder.path().join("norm/a.toml")).unwrap();
        fs::write(folder.path().join("norm/a.cu"), "").unwrap();
        let error = Sources::of(folder.path(), "norm/a.cu").unwrap_err().to_string();
        assert!(error.contains("norm/a.toml"), "{error}");
    }
}
