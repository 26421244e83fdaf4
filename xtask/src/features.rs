// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Every published crate compiles alone: without features, with each one, with all.

use std::path::Path;

use anyhow::Result;
use cargo_metadata::Package;

use crate::process::Program;
use crate::workspace::{members, published};

/// Runs `cargo check` for each choice of features of each package.
pub(crate) fn run(root: &Path) -> Result<()> {
    let metadata = members(root)?;
    let mut checks = 0;
    for package in published(&metadata) {
        for choice in choices(package.features.keys().map(String::as_str)) {
            // Package by package: in one call cargo would unite the features of all.
            Program::cargo(root)
                .args("check --quiet --locked --package")
                .arg(package.name.as_str())
                .args(&choice)
                .run()?;
            checks += 1;
        }
        docs_rs(package)?;
    }
    println!("features: {checks} choices compile");
    Ok(())
}

/// Arguments that choose no feature, each one alone, and all.
fn choices<'a>(features: impl Iterator<Item = &'a str>) -> Vec<String> {
    let single: Vec<&str> = features.filter(|feature| *feature != "default").collect();
    let none = "--no-default-features";
    let mut choices = vec![none.to_owned()];
    choices.extend(single.iter().map(|feature| format!("{none} --features {feature}")));
    if single.len() > 1 {
        choices.push("--all-features".to_owned());
    }
    choices
}

/// Documentation builders ignore metadata of the wrong type without a word.
fn docs_rs(package: &Package) -> Result<()> {
    let features = package.metadata.pointer("/docs/rs/features");
    if features.is_some_and(|features| !features.is_array()) {
        anyhow::bail!("{}: package.metadata.docs.rs.features must be a list", package.name);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_is_chosen_alone() {
        assert_eq!(choices([].into_iter()), ["--no-default-features"]);
        assert_eq!(
            choices(["default", "cpu", "rayon"].into_iter()),
            [
                "--no-default-features",
                "--no-default-features --features cpu",
                "--no-default-features --features rayon",
                "--all-features"
            ]
        );
    }
}
