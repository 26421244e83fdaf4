// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Licences of dependencies against the allow-list of `deny.toml`, of our own packages against their manifests, and of
//! every file against `license.toml`, which `opweave license` reads.

use std::path::Path;
use std::{fs, iter};

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, Package};
use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};

use crate::process::Program;
use crate::workspace::{dependencies, published};

/// The licence of every file and package of this workspace.
const OURS: &str = "Apache-2.0";

/// `deny.toml`. A key that is not read here is an error: nothing in the file may look enforced and not be.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Policy {
    licenses: Licenses,
    sources: Sources,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Licenses {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

/// More licences for one package.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Sources {
    unknown_registry: Deny,
    unknown_git: Deny,
}

/// The only setting that is implemented.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Deny {
    Deny,
}

/// The lint runs no kernel, and optimising all of them takes most of its build.
const LINT_PROFILE: &str = "--config profile.dev.package.opweave-cpu.opt-level=0";

/// Checks the workspace under `root`.
///
/// # Errors
/// If a dependency is not allowed, a manifest differs from the workspace's licence, or the policy cannot be read.
pub(crate) fn run(root: &Path) -> Result<()> {
    let text = fs::read_to_string(root.join("deny.toml")).context("failed to read deny.toml")?;
    let policy: Policy = toml::from_str(&text).context("failed to read deny.toml")?;
    let metadata = dependencies(root)?;
    let mut findings = foreign(&policy, &metadata)?;
    findings.extend(own(&metadata, root));
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("the licence check has {} findings", findings.len());
    }
    let members = metadata.workspace_members.len();
    println!("licence: {} dependencies and {members} own packages, no findings", metadata.packages.len() - members);
    // The rules are checked before the files: a lint that finds nothing may be one that cannot.
    for arguments in ["--self-test", "--config license.toml"] {
        let cargo = Program::cargo(root).args("run --locked --quiet -p opweave-cli").args(LINT_PROFILE);
        cargo.args("-- license").args(arguments).run()?;
    }
    Ok(())
}

fn foreign(policy: &Policy, metadata: &Metadata) -> Result<Vec<String>> {
    let (Deny::Deny, Deny::Deny) = (&policy.sources.unknown_registry, &policy.sources.unknown_git);
    let mut findings = Vec::new();
    let mut used = vec![false; policy.licenses.exceptions.len()];
    for package in metadata.packages.iter().filter(|package| !metadata.workspace_members.contains(&package.id)) {
        let label = format!("{} {}", package.name, package.version);
        let exception = policy.licenses.exceptions.iter().position(|exception| exception.name == package.name.as_str());
        let more = exception.map_or(&[][..], |at| &policy.licenses.exceptions[at].allow);
        let allow = licensees(policy.licenses.allow.iter().chain(more))?;
        if let Err(why) = judge(package.license.as_deref(), &allow) {
            findings.push(format!("{label}: {why}"));
        }
        if let Some(at) = exception {
            used[at] = true;
        }
        findings.extend(source(package).map(|why| format!("{label}: {why}")));
    }
    let unused = policy.licenses.exceptions.iter().zip(used).filter(|(_, used)| !used);
    findings.extend(
        unused.map(|(exception, _)| format!("deny.toml: exception for {}, which is no dependency", exception.name)),
    );
    Ok(findings)
}

fn licensees<'a>(names: impl Iterator<Item = &'a String>) -> Result<Vec<Licensee>> {
    names
        .map(|name| Licensee::parse(name).with_context(|| format!("deny.toml allows {name:?}, which is no licence")))
        .collect()
}

/// Whether `license`, a manifest's licence field, is satisfied by the allowed licences.
fn judge(license: Option<&str>, allow: &[Licensee]) -> Result<(), String> {
    let Some(text) = license.map(str::trim).filter(|text| !text.is_empty()) else {
        return Err("states no licence".into());
    };
    // The slash of old manifests ("MIT/Apache-2.0") is read as OR.
    let expression =
        Expression::parse_mode(text, ParseMode::LAX).map_err(|e| format!("licence {text:?}: {}", e.reason))?;
    if expression.evaluate(|required| allow.iter().any(|licensee| licensee.satisfies(required))) {
        return Ok(());
    }
    Err(format!("licence {text:?} is not allowed by deny.toml"))
}

fn source(package: &Package) -> Option<String> {
    match &package.source {
        None => None,
        Some(source) if source.is_crates_io() => None,
        Some(source) => Some(format!("comes from {source}, not from the default registry")),
    }
}

/// Findings on our own packages: licence field, licence text for whoever receives the package, licence files.
fn own(metadata: &Metadata, root: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    for package in metadata.workspace_packages() {
        if package.license.as_deref() != Some(OURS) {
            let stated = package.license.as_deref().unwrap_or("none");
            findings.push(format!("{}: licence field {stated}, wanted {OURS}", package.name));
        }
    }
    let roots = iter::once(root.to_path_buf());
    let folders = published(metadata).into_iter().filter_map(|package| Some(package.manifest_path.parent()?.into()));
    let canonical = fs::read(root.join(format!("licenses/{OURS}.txt"))).unwrap_or_default();
    for folder in roots.chain(folders) {
        // Packages carry links: one text, and every package that is published holds it. The third-party map follows it.
        let holds = |text: &Vec<u8>| text.starts_with(&canonical) && !canonical.is_empty();
        if fs::read(folder.join("LICENSE")).ok().filter(holds).is_none() {
            findings.push(format!("{}: LICENSE does not begin with the text of licenses/{OURS}.txt", folder.display()));
        }
        if !folder.join("NOTICE").is_file() {
            findings.push(format!("{}: NOTICE is missing", folder.display()));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(license: Option<&str>, allow: &[&str]) -> Result<(), String> {
        judge(license, &licensees(allow.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>().iter()).unwrap())
    }

    #[test]
    fn expressions_are_judged_by_their_grammar() {
        let allow = ["MIT", "Apache-2.0"];
        for good in [
            "MIT",
            "MIT OR GPL-3.0-only AND BSD-3-Clause",
            "MIT/Apache-2.0",
            "MIT AND Apache-2.0",
            "GPL-2.0-only OR (MIT)",
        ] {
            assert_eq!(verdict(Some(good), &allow), Ok(()), "{good}");
        }
        for bad in [
            "(MIT OR GPL-3.0-only) AND BSD-3-Clause",
            "MIT AND GPL-3.0-only",
            "GPL-2.0-only",
            "LicenseRef-Proprietary",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(verdict(Some(bad), &allow).unwrap_err().contains("is not allowed"), "{bad}");
        }
        assert_eq!(verdict(Some("Apache-2.0 WITH LLVM-exception"), &["Apache-2.0 WITH LLVM-exception"]), Ok(()));
    }

    #[test]
    fn no_licence_and_no_expression_are_denied() {
        assert_eq!(verdict(None, &["MIT"]).unwrap_err(), "states no licence");
        assert_eq!(verdict(Some(" "), &["MIT"]).unwrap_err(), "states no licence");
        for bad in ["NOASSERTION", "MIT OR", "(MIT", "MIT Apache-2.0", "()"] {
            assert!(verdict(Some(bad), &["MIT"]).unwrap_err().starts_with("licence "), "{bad}");
        }
    }

    #[test]
    fn keys_that_are_not_enforced_are_refused() {
        let good = "[licenses]\nallow = [\"MIT\"]\n[sources]\nunknown-registry = \"deny\"\nunknown-git = \"deny\"\n";
        assert!(toml::from_str::<Policy>(good).is_ok());
        assert!(toml::from_str::<Policy>(&format!("{good}[bans]\nmultiple-versions = \"deny\"\n")).is_err());
        assert!(toml::from_str::<Policy>(&good.replace("git = \"deny\"", "git = \"warn\"")).is_err());
        assert!(licensees([String::from("Mit-ish")].iter()).unwrap_err().to_string().contains("Mit-ish"));
    }

    /// Nothing that a build, a test or the documentation needs asks for a library of the system, let alone for a toolkit.
    #[test]
    fn no_dependency_links_a_system_library() {
        // Names that cargo only uses to keep two versions of a crate apart.
        const NOT_A_LIBRARY: [&str; 1] = ["rayon-core"];
        let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let metadata = cargo_metadata::MetadataCommand::new()
            .current_dir(crate::workspace::root().unwrap())
            .other_options(["--locked".to_owned(), "--filter-platform".to_owned(), host])
            .exec()
            .unwrap();
        let linking: Vec<_> = metadata.packages.iter().filter_map(|package| package.links.as_deref()).collect();
        let libraries: Vec<_> = linking.iter().filter(|name| !NOT_A_LIBRARY.contains(name)).collect();
        assert!(libraries.is_empty(), "{libraries:?}");
        assert!(metadata.packages.len() > metadata.workspace_members.len(), "the graph is there");
    }

    #[test]
    fn an_exception_that_no_dependency_needs_is_found() {
        let root = crate::workspace::root().unwrap();
        let metadata = crate::workspace::members(&root).unwrap();
        let text = "[licenses]\nallow = []\nexceptions = [{ crate = \"absent\", allow = [\"MIT\"] }]\n[sources]\nunknown-registry = \"deny\"\nunknown-git = \"deny\"\n";
        let findings = foreign(&toml::from_str(text).unwrap(), &metadata).unwrap();
        assert_eq!(findings, ["deny.toml: exception for absent, which is no dependency"]);
    }
}
