// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Processes that meet the double, or less of it.

use std::path::Path;

use crate::shared::{Met, double, run};

/// A copy of the double, to take something away from.
pub(crate) fn copied() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lib64 = folder.path().join("lib64");
    std::fs::create_dir(&lib64).unwrap();
    for entry in std::fs::read_dir(double().join("lib64")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), lib64.join(entry.file_name())).unwrap();
    }
    folder
}

/// A copy of the double whose `library` has no `symbol`: the name is spelt otherwise.
pub(crate) fn without(library: &str, symbol: &str) -> tempfile::TempDir {
    let folder = copied();
    let file = folder.path().join("lib64").join(library);
    let mut bytes = std::fs::read(&file).unwrap();
    let name = [b"\0", symbol.as_bytes(), b"\0"].concat();
    let places: Vec<usize> = (0..bytes.len() - name.len()).filter(|&at| bytes[at..].starts_with(&name)).collect();
    assert!(!places.is_empty(), "{library} has no {symbol}");
    places.iter().for_each(|&at| bytes[at + 1] = b'_');
    std::fs::write(file, bytes).unwrap();
    folder
}

/// Runs the script of one operator's life in a process of its own, with CANN in `home`.
pub(crate) fn meet(home: &Path, variables: &[(&str, &str)]) -> Met {
    run("script::the_script", home, variables)
}
