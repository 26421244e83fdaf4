// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use std::path::Path;
use std::{fs, io};

use sha2::{Digest, Sha256};

/// The folders of sources: families, and the headers that they share.
pub const FOLDERS: [&str; 5] = ["activation", "include/opweave", "normalization", "quantization", "rotary"];

/// The hash of all sources, with their names: the layout of tilings is an agreement between them and the host.
///
/// # Errors
/// If a file cannot be read.
pub fn hash(root: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    for folder in FOLDERS {
        let mut names = Vec::new();
        for entry in fs::read_dir(root.join(folder))? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.retain(|name| name.ends_with(".h") || name.ends_with(".cpp"));
        names.sort();
        for name in names {
            let bytes = fs::read(root.join(folder).join(&name))?;
            hasher.update(format!("{folder}/{name} {}\n", bytes.len()));
            hasher.update(&bytes);
        }
    }
    Ok(hex(&hasher.finalize()))
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
