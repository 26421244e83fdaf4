// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `package.json`.

use serde_json::Value;

use super::{License, Package, Packed, folder, place};
use crate::policy::Globs;

/// The package that a manifest declares; one without a name only marks a folder.
pub(super) fn package(path: &str, text: &str) -> Option<Package> {
    let json: Value = serde_json::from_str(text).ok()?;
    json.get("name")?;
    let private = json.get("private") == Some(&Value::Bool(true));
    let license = match json.get("license") {
        Some(Value::String(text)) => text
            .strip_prefix("SEE LICENSE IN ")
            .map_or_else(|| License::Stated(text.clone()), |file| License::File(file.trim().to_owned())),
        // The form of long ago.
        Some(Value::Object(old)) => {
            old.get("type").and_then(Value::as_str).map_or(License::Missing, |text| License::Stated(text.to_owned()))
        }
        _ if private => License::Elsewhere,
        _ => License::Missing,
    };
    let packed = match json.get("files").and_then(Value::as_array) {
        None => Packed::All,
        Some(files) => {
            let mut globs: Vec<String> = Vec::new();
            for name in files.iter().filter_map(Value::as_str) {
                let name = name.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
                globs.extend([name.to_owned(), format!("{name}/**")]);
            }
            // Always packed, whatever is listed.
            globs.extend(["package.json", "README*", "LICENSE*", "LICENCE*"].map(str::to_owned));
            globs.retain(|glob| !glob.is_empty());
            Globs::new(globs.iter().map(String::as_str)).map_or(Packed::All, Packed::Only)
        }
    };
    let manifest = path.to_owned();
    let place = place(path, text, "license");
    Some(Package { manifest, folder: folder(path), license, packed, published: !private, place, slash: false })
}
