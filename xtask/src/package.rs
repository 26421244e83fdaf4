// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Every published crate packs and builds from its package alone.

mod user;

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, Package};

use crate::process::Program;
use crate::workspace::{members, published};

/// Runs `cargo package` on the published crates and looks into the packages.
///
/// # Errors
/// If the tree has uncommitted changes (what is packed must be what is committed), a package misses its licence, or
/// one does not build.
pub(crate) fn run(root: &Path) -> Result<()> {
    let metadata = members(root)?;
    let dirty = Program::new("git", root).args("status --porcelain").read()?;
    if !dirty.is_empty() {
        bail!("packages are made of committed files; commit or remove these first:\n{}", dirty.trim_end());
    }
    // From here on only files that git ignores differ from what is committed: images of kernels, which cargo takes for dirt.
    const ALLOW: &str = "--allow-dirty";
    let packages = published(&metadata);
    for package in &packages {
        let list = Program::cargo(root)
            .args("package --locked --list")
            .arg(ALLOW)
            .arg("--package")
            .arg(package.name.as_str())
            .read()?;
        for wanted in ["LICENSE", "NOTICE"] {
            if !list.lines().any(|file| file == wanted) {
                bail!("the package of {} holds no {wanted}", package.name);
            }
        }
    }
    let home = fresh_home(metadata.target_directory.as_std_path())?;
    let mut cargo = Program::cargo(root).env("CARGO_HOME", home).args("package --quiet --locked").arg(ALLOW);
    for package in &packages {
        cargo = cargo.args("--package").arg(package.name.as_str());
    }
    cargo.run()?;
    sizes(&metadata, &packages)?;
    println!("package: {} packages build from what they hold", packages.len());
    user::run(root, &metadata, &packages)
}

/// A home for cargo that knows every downloaded package and no unpacked one of ours.
///
/// To build packages from each other, cargo puts them into a registry of its own in the target folder, and unpacks them
/// into its home by name and version alone: a package of an earlier commit, packed at the same place, would be taken for this
/// one. What comes from a registry with a host is the user's and stays shared; such names do not begin with `-`.
fn fresh_home(target: &Path) -> Result<PathBuf> {
    let theirs = match env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => env::home_dir().context("neither CARGO_HOME nor a home folder is known")?.join(".cargo"),
    };
    let ours = target.join("package-home");
    if ours.exists() {
        fs::remove_dir_all(&ours).with_context(|| format!("failed to remove {}", ours.display()))?;
    }
    fs::create_dir_all(&ours).with_context(|| format!("failed to create {}", ours.display()))?;
    let of_a_host = |name: &str| !name.starts_with('-');
    link_entries(&theirs, &ours, |name| name != "registry")?;
    for part in ["index", "cache", "src"] {
        let part = Path::new("registry").join(part);
        link_entries(&theirs.join(&part), &ours.join(&part), of_a_host)?;
    }
    Ok(ours)
}

/// Makes the folder `to` with a link to each entry of `from` whose name is wanted.
fn link_entries(from: &Path, to: &Path, wanted: impl Fn(&str) -> bool) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("failed to create {}", to.display()))?;
    if !from.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(from).with_context(|| format!("failed to list {}", from.display()))? {
        let name = entry.with_context(|| format!("failed to list {}", from.display()))?.file_name();
        if name.to_str().is_some_and(&wanted) {
            let link = to.join(&name);
            symlink(from.join(&name), &link).with_context(|| format!("failed to link {}", link.display()))?;
        }
    }
    Ok(())
}

/// The registry takes packages of up to 10 MB, and images travel in one.
const LARGEST: u64 = 10_000_000;

fn sizes(metadata: &Metadata, packages: &[&Package]) -> Result<()> {
    for package in packages {
        let file = format!("package/{}-{}.crate", package.name, package.version);
        let path = metadata.target_directory.join(file);
        let bytes = fs::metadata(&path).with_context(|| format!("failed to look at {path}"))?.len();
        if bytes > LARGEST {
            bail!("the package of {} has {bytes} bytes, at most {LARGEST}", package.name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_an_earlier_commit_are_not_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for name in ["host-1/a", "-2/ours"] {
            fs::create_dir_all(from.join(name)).unwrap();
        }
        link_entries(&from, &to, |name| !name.starts_with('-')).unwrap();
        assert!(to.join("host-1/a").exists() && !to.join("-2").exists());
        link_entries(&folder.path().join("missing"), &folder.path().join("empty"), |_| true).unwrap();
        assert!(folder.path().join("empty").exists());
    }
}
