// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Manifests: what a package says about its licence, against what its files carry.

mod cargo;
mod npm;
mod python;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::expr::Expr;
use crate::finding::Place;
use crate::policy::{Class, Globs, is_license_name};
use crate::rules::Whole;

/// What a manifest says.
#[derive(Debug)]
pub(crate) struct Package {
    /// Path of the manifest.
    manifest: String,
    /// Folder of the package, with a final slash, or empty for the root.
    folder: String,
    /// The licence field.
    license: License,
    /// Which files are packed.
    packed: Packed,
    /// Whether it goes to a registry.
    published: bool,
    /// Where the licence field stands.
    place: Place,
    /// Whether the old slash stands for OR.
    slash: bool,
}

/// The licence field.
#[derive(Debug, PartialEq, Eq)]
enum License {
    /// An expression.
    Stated(String),
    /// A file instead.
    File(String),
    /// Not stated.
    Missing,
    /// Left to something that is not in the manifest.
    Elsewhere,
}

/// Which files of the folder are packed.
#[derive(Debug)]
enum Packed {
    All,
    Only(Globs),
    Without(Globs),
}

/// A finding of L013.
pub(crate) struct Fault {
    pub place: Place,
    pub message: String,
    pub help: String,
    pub warning: bool,
}

/// The packages of a tree.
pub(crate) fn packages(whole: &Whole<'_>) -> Vec<Package> {
    let read = |path: &str| whole.tree.all(path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let mut packages = Vec::new();
    for entry in whole.entries {
        let path = entry.path.as_str();
        let package = match path.rsplit('/').next() {
            Some("Cargo.toml") => read(path).and_then(|text| cargo::package(path, &text, &read)),
            Some("pyproject.toml") => read(path).and_then(|text| python::package(path, &text)),
            Some("package.json") => read(path).and_then(|text| npm::package(path, &text)),
            _ => None,
        };
        packages.extend(package);
    }
    packages
}

/// The folder of a path, with a final slash, or empty.
fn folder(path: &str) -> String {
    path.rsplit_once('/').map_or_else(String::new, |(folder, _)| format!("{folder}/"))
}

/// The first line that holds `word`, as the place of a field.
fn place(path: &str, text: &str, word: &str) -> Place {
    for (line, number) in text.lines().zip(1_u32..) {
        if let Some(at) =
            line.trim_start_matches(['"', ' ', '\t']).strip_prefix(word).map(|_| line.find(word).unwrap_or(0))
        {
            let column = u32::try_from(line[..at].chars().count() + 1).unwrap_or(1);
            return Place::at(path, number, column, line, line[at..].trim_end().chars().count());
        }
    }
    Place::whole(path)
}

impl Package {
    /// Whether a path of the tree is in the package; `nested` are the folders of packages within.
    fn holds(&self, path: &str, nested: &[&str]) -> bool {
        let Some(inner) = path.strip_prefix(&self.folder) else { return false };
        if nested.iter().any(|folder| path.starts_with(folder)) {
            return false;
        }
        match &self.packed {
            Packed::All => true,
            Packed::Only(globs) => globs.is_match(inner),
            Packed::Without(globs) => !globs.is_match(inner),
        }
    }

    /// What is wrong with it.
    pub(crate) fn faults(&self, whole: &Whole<'_>) -> Vec<Fault> {
        let name = self.manifest.rsplit('/').next().unwrap_or(&self.manifest);
        // A folder with a manifest of the same kind is a package of its own.
        let nested: Vec<String> = whole
            .entries
            .iter()
            .filter(|entry| entry.path != self.manifest && entry.path.rsplit('/').next() == Some(name))
            .map(|entry| folder(&entry.path))
            .filter(|inner| inner.len() > self.folder.len() && inner.starts_with(&self.folder))
            .collect();
        let nested: Vec<&str> = nested.iter().map(String::as_str).collect();
        let held = whole.entries.iter().zip(whole.facts).filter(|(entry, _)| self.holds(&entry.path, &nested));
        let mut carried: BTreeMap<&str, (&Arc<Expr>, &str)> = BTreeMap::new();
        let mut texts = Vec::new();
        let mut has_text = false;
        for (entry, fact) in held {
            has_text |= is_license_name(entry.path.rsplit('/').next().unwrap_or_default());
            if let Some(expression) = &fact.expression {
                carried.entry(expression.normal()).or_insert((expression, &entry.path));
            }
            if let Class::Port(bucket) = fact.class {
                texts.extend(whole.policy.buckets[bucket].texts.iter().map(String::as_str));
            }
        }
        let mut faults = Vec::new();
        self.license_faults(&carried, &mut faults);
        if self.published {
            texts.sort_unstable();
            texts.dedup();
            self.text_faults(whole, has_text, &texts, &nested, &mut faults);
        }
        faults
    }

    fn license_faults(&self, carried: &BTreeMap<&str, (&Arc<Expr>, &str)>, faults: &mut Vec<Fault>) {
        let all = Expr::all(carried.values().map(|(expression, _)| expression.as_ref()));
        let mut fault = |message: String, help: String, warning: bool| {
            faults.push(Fault { place: self.place.clone(), message, help, warning });
        };
        let stated = match &self.license {
            License::File(_) | License::Elsewhere => return,
            License::Missing => {
                let help = all.map_or_else(|| "state it".to_owned(), |all| format!("its files carry {}", all.normal()));
                fault("the manifest states no licence".into(), help, false);
                return;
            }
            License::Stated(text) => text,
        };
        let read = if self.slash && stated.contains('/') {
            let better = stated.split('/').map(str::trim).collect::<Vec<_>>().join(" OR ");
            fault(format!("licence {stated:?} is written with the old slash"), format!("write {better:?}"), true);
            Expr::parse(&better)
        } else {
            Expr::parse(stated)
        };
        match (read, all) {
            (Err(error), _) => {
                fault(format!("licence {stated:?}: {}", error.reason), "write an SPDX expression".into(), false)
            }
            (Ok(stated), Some(all)) if !stated.same_as(&all) => {
                let odd = carried.values().find(|(expression, _)| !expression.same_as(&stated));
                let example =
                    odd.map_or_else(String::new, |(expression, path)| format!(" ({path} carries {expression})"));
                let message = format!("the manifest states {stated}, but its files carry {}{example}", all.normal());
                fault(message, format!("write {:?}, or leave the files out of the package", all.normal()), false);
            }
            _ => {}
        }
    }

    fn text_faults(&self, whole: &Whole<'_>, has_text: bool, texts: &[&str], nested: &[&str], faults: &mut Vec<Fault>) {
        let mut fault = |message: String, help: String| {
            faults.push(Fault { place: self.place.clone(), message, help, warning: false });
        };
        if let License::File(file) = &self.license
            && !whole.tree.exists(&format!("{}{file}", self.folder))
        {
            fault(format!("the licence file {file} does not exist"), "name a file of the package".into());
            return;
        }
        if !has_text {
            fault(
                "the package holds no licence file".into(),
                "put a LICENSE file, or a link to it, beside the manifest".into(),
            );
        }
        for text in texts {
            let base = text.rsplit('/').next().unwrap_or(text);
            let held = whole.entries.iter().any(|entry| {
                self.holds(&entry.path, nested) && (entry.path == *text || entry.path.rsplit('/').next() == Some(base))
            });
            if !held {
                fault(
                    format!("the package holds ports, but not their licence text {text}"),
                    "pack the text, or a link to it".into(),
                );
            }
        }
    }
}
