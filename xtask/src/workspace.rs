// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Where the workspace is and what cargo says about it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::{CargoOpt, Metadata, MetadataCommand, Package};

/// The workspace's root: the folder above this package.
pub(crate) fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(here.parent().context("xtask has no folder above it")?.to_path_buf())
}

/// The workspace's own packages alone. Needs no package to be fetched.
pub(crate) fn members(root: &Path) -> Result<Metadata> {
    MetadataCommand::new().current_dir(root).no_deps().exec().context("failed to read the workspace's manifests")
}

/// The whole dependency graph on every platform, with every feature on.
pub(crate) fn dependencies(root: &Path) -> Result<Metadata> {
    MetadataCommand::new()
        .current_dir(root)
        .features(CargoOpt::AllFeatures)
        .other_options(["--locked".to_owned()])
        .exec()
        .context("failed to read the dependency graph")
}

/// The packages that are published, by name.
pub(crate) fn published(metadata: &Metadata) -> Vec<&Package> {
    let is_published = |package: &&Package| package.publish.as_ref().is_none_or(|registries| !registries.is_empty());
    let mut packages: Vec<&Package> = metadata.workspace_packages().into_iter().filter(is_published).collect();
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    packages
}
