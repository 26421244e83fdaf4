// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Locates: descriptions, hashes of sources, and images if there are any. Compiles nothing.

#[expect(dead_code, unreachable_pub, reason = "the package and xtask use the rest of it")]
#[path = "src/sources.rs"]
mod sources;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, error, fs};

fn main() -> Result<(), Box<dyn error::Error>> {
    // The whole package, because of what may not exist yet: a path that does not exist would run this on every build.
    println!("cargo::rerun-if-changed=.");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    fs::write(out.join("built.rs"), kernels(&root)? + &images(&root)?)?;
    Ok(())
}

fn kernels(root: &Path) -> Result<String, Box<dyn error::Error>> {
    let mut text = String::from(
        "pub(crate) struct Kernel { pub stem: &'static str, pub description: &'static str, pub source_hash: &'static str }\n\
         pub(crate) static KERNELS: &[Kernel] = &[\n",
    );
    for source in sources::kernels(root)? {
        let stem = sources::stem(&source);
        let description = root.join(&source).with_extension("toml");
        let hash = sources::Sources::of(root, &source)?.hash;
        writeln!(
            text,
            "Kernel {{ stem: {stem:?}, description: include_str!({description:?}), source_hash: {hash:?} }},"
        )?;
    }
    Ok(text + "];\n")
}

fn images(root: &Path) -> Result<String, Box<dyn error::Error>> {
    let folder = root.join("images");
    let index = folder.join("index.json");
    if env::var_os("CARGO_FEATURE_EMBED").is_none() || !index.is_file() {
        return Ok("pub(crate) static INDEX: Option<&str> = None;\n\
                   pub(crate) static IMAGES: &[(&str, &[u8])] = &[];\n"
            .into());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".fatbin") {
            names.push(name);
        }
    }
    names.sort();
    let mut text = format!("pub(crate) static INDEX: Option<&str> = Some(include_str!({index:?}));\n");
    text += "pub(crate) static IMAGES: &[(&str, &[u8])] = &[\n";
    for name in names {
        writeln!(text, "({name:?}, include_bytes!({:?})),", folder.join(&name))?;
    }
    Ok(text + "];\n")
}
