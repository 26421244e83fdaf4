// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `Cargo.toml`.

use toml::{Table, Value};

use super::{License, Package, Packed, folder, place};
use crate::policy::Globs;

/// The package that a manifest declares; a workspace alone is none, and neither is what is no manifest.
pub(super) fn package(path: &str, text: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<Package> {
    let table: Table = text.parse().ok()?;
    let package = table.get("package")?.as_table()?;
    let folder = folder(path);
    let license = match (package.get("license"), package.get("license-file")) {
        (Some(Value::String(text)), _) => License::Stated(text.clone()),
        (Some(Value::Table(inherited)), _) if inherited.get("workspace") == Some(&Value::Boolean(true)) => {
            workspace(path, &table, read).map_or(License::Missing, License::Stated)
        }
        (None, Some(Value::String(file))) => License::File(file.clone()),
        (None, Some(Value::Table(_))) => License::Elsewhere,
        _ => License::Missing,
    };
    let published = match package.get("publish") {
        Some(Value::Boolean(publish)) => *publish,
        Some(Value::Array(registries)) => !registries.is_empty(),
        _ => true,
    };
    let packed = match (list(package, "include"), list(package, "exclude")) {
        (Some(globs), _) => Packed::Only(globs),
        (None, Some(globs)) => Packed::Without(globs),
        (None, None) => Packed::All,
    };
    let place = place(path, text, "license");
    Some(Package { manifest: path.to_owned(), folder, license, packed, published, place, slash: true })
}

/// Patterns in the manner of gitignore, as globs: a name matches anywhere, a folder with all it holds.
fn list(package: &Table, key: &str) -> Option<Globs> {
    let mut globs = Vec::new();
    for pattern in package.get(key)?.as_array()?.iter().filter_map(Value::as_str) {
        let anchored = pattern.trim_end_matches('/').contains('/');
        let bare = pattern.trim_start_matches('/').trim_end_matches('/');
        let bare = if anchored { bare.to_owned() } else { format!("**/{bare}") };
        globs.push(format!("{bare}/**"));
        globs.push(bare);
    }
    Globs::new(globs.iter().map(String::as_str)).ok()
}

/// The licence of the workspace: of the manifest itself, or of the nearest one above that is a workspace.
fn workspace(path: &str, table: &Table, read: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let license = |table: &Table| {
        let package = table.get("workspace")?.as_table()?.get("package")?.as_table()?;
        Some(package.get("license")?.as_str()?.to_owned())
    };
    if table.contains_key("workspace") {
        return license(table);
    }
    let mut above = folder(path);
    while !above.is_empty() {
        above = folder(above.trim_end_matches('/'));
        let parent: Option<Table> = read(&format!("{above}Cargo.toml")).and_then(|text| text.parse().ok());
        if let Some(parent) = parent.filter(|parent| parent.contains_key("workspace")) {
            return license(&parent);
        }
    }
    None
}
