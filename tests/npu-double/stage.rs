// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The double, built once, and processes that meet it. Part of the tests of several crates.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The double, in a folder as a toolkit's.
pub(crate) fn double() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let built = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/npu-double/build.sh");
        let status = Command::new("sh").arg(script).arg(folder.path()).status().unwrap();
        assert!(status.success(), "the double is built by the C++ compiler that `CXX` names, else g++");
        folder
    });
    built.path()
}

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

/// What a process said and left.
pub(crate) struct Met {
    /// What the script came to: `done`, or the error.
    pub(crate) said: String,
    /// What the double counted and noted.
    pub(crate) report: String,
}

impl Met {
    /// The double counted nothing that lives on, and noted no misuse.
    pub(crate) fn is_clean(&self, what: &str) {
        let rest: Vec<&str> = self.report.lines().filter(|line| *line != "end").collect();
        assert!(rest.is_empty(), "{what}: {rest:?}");
        assert!(self.report.contains("end"), "{what}: the double wrote no report");
    }
}

/// Runs an ignored test of this binary in a process of its own, with CANN in `home`.
pub(crate) fn run(script: &str, home: &Path, variables: &[(&str, &str)]) -> Met {
    let folder = tempfile::tempdir().unwrap();
    let (said, report): (PathBuf, PathBuf) = (folder.path().join("said"), folder.path().join("report"));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", script, "--ignored", "--test-threads=1"]);
    for name in ["ASCEND_TOOLKIT_HOME", "LD_LIBRARY_PATH", "OPWEAVE_DOUBLE_FAIL"] {
        command.env_remove(name);
    }
    command.env("ASCEND_HOME_PATH", home).env("HOME", folder.path());
    command.env("OPWEAVE_DOUBLE_REPORT", &report).env("OPWEAVE_SCRIPT_SAID", &said);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{variables:?}: the script fell over: {text}");
    Met {
        said: std::fs::read_to_string(said).unwrap_or_else(|_| panic!("{variables:?}: nothing was said: {text}")),
        report: std::fs::read_to_string(report).unwrap_or_default(),
    }
}

/// What a script says: `said` reaches whoever started the process.
pub(crate) fn say(said: &str) {
    if let Some(file) = std::env::var_os("OPWEAVE_SCRIPT_SAID") {
        std::fs::write(file, said).unwrap();
    }
}
