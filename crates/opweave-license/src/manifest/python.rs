// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `pyproject.toml`.

use toml::{Table, Value};

use super::{License, Package, Packed, folder, place};

/// The project that a manifest declares; one without `[project]` only configures tools.
pub(super) fn package(path: &str, text: &str) -> Option<Package> {
    let table: Table = text.parse().ok()?;
    let project = table.get("project")?.as_table()?;
    let dynamic = project
        .get("dynamic")
        .and_then(Value::as_array)
        .is_some_and(|fields| fields.iter().any(|field| field.as_str() == Some("license")));
    let license = match project.get("license") {
        Some(Value::String(text)) => License::Stated(text.clone()),
        // The older form: a table with an expression or any other words, or with a file.
        Some(Value::Table(table)) => match (table.get("text"), table.get("file")) {
            (Some(Value::String(text)), _) => License::Stated(text.clone()),
            (_, Some(Value::String(file))) => License::File(file.clone()),
            _ => License::Missing,
        },
        _ if dynamic => License::Elsewhere,
        _ => License::Missing,
    };
    let private = project
        .get("classifiers")
        .and_then(Value::as_array)
        .is_some_and(|all| all.iter().any(|name| name.as_str().is_some_and(|name| name.starts_with("Private ::"))));
    let place = place(path, text, "license");
    let folder = folder(path);
    let manifest = path.to_owned();
    Some(Package { manifest, folder, license, packed: Packed::All, published: !private, place, slash: false })
}
