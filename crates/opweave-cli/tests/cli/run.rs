// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Runs the binary.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What a run left behind.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// What launchers of several ranks set.
const RANKS: [&str; 6] = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_", "OMPI_COMM_", "SLURM_"];

/// The binary, with an environment that no override reaches and no launcher.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_opweave"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("OPWEAVE_") || RANKS.iter().any(|set| text.starts_with(set)) {
            command.env_remove(&name);
        }
    }
    command.env("OPWEAVE_KERNELS", no_images());
    command.args(args);
    command
}

/// The rows of `rms_norm` that reviewed texts show. A further kernel changes none of them.
const SHOWN: [&str; 5] = [
    "cpu.native.rms_norm.avx2",
    "cpu.native.rms_norm.avx512",
    "cpu.native.rms_norm.portable",
    "cpu.reference.rms_norm",
    "cuda.native.rms_norm",
];

/// A text about rows without those that a later kernel may add, and without the widths and counts that follow from them.
pub(crate) fn reviewed(text: &str) -> String {
    let is_row = |word: &&str| word.contains(".rms_norm");
    let shown =
        |line: &&str| line.split_whitespace().find(is_row).is_none_or(|row| SHOWN.contains(&row.trim_end_matches(':')));
    let settled = |line: &str| {
        let indent = line.len() - line.trim_start().len();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [available, "of", all, "implementations", ..] => line.replace(available, "N").replace(all, "N"),
            [rule] if rule.starts_with('─') => "───".to_owned(),
            _ => format!("{}{}", " ".repeat(indent), words.join(" ")),
        }
    };
    text.lines().filter(shown).map(settled).collect::<Vec<_>>().join("\n")
}

/// A folder with an index of no images: whether there are any on this machine is no matter of these tests.
fn no_images() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("no-images-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("index.json"), r#"{"schema_version": 1, "images": []}"#).unwrap();
        folder
    })
}

/// Runs to the end.
pub(crate) fn opweave(args: &[&str]) -> Ran {
    finish(&mut command(args))
}

/// Runs a prepared command to the end.
pub(crate) fn finish(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().expect("the binary was not killed by a signal"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
