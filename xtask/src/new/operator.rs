// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The skeleton of an operator, and of its family where that is new.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::names::Name;
use super::scaffold::{Edit, Place, Scaffold};

/// One of the places that an operator's stem runs through.
struct Station {
    /// The folder that holds the families.
    folder: &'static str,
    /// The operator's file and, for a new family, the family's.
    operator: &'static str,
    family: &'static str,
}

macro_rules! template {
    ($path:literal) => {
        include_str!(concat!("../../templates/", $path, ".rs.tmpl"))
    };
}

const CONTRACT: Station = Station {
    folder: "crates/opweave-contract/src/ops",
    operator: template!("operator/contract"),
    family: template!("family/contract"),
};
const REFERENCE: Station = Station {
    folder: "crates/opweave-reference/src/ops",
    operator: template!("operator/reference"),
    family: template!("family/reference"),
};
const CPU: Station = Station {
    folder: "crates/opweave-cpu/src/ops",
    operator: template!("operator/cpu"),
    family: template!("family/cpu"),
};
const FUNCTION: Station = Station {
    folder: "crates/opweave/src/ops",
    operator: template!("operator/function"),
    family: template!("family/function"),
};
const SUITE: Station = Station {
    folder: "crates/opweave-numerics/src/suites",
    operator: template!("operator/suite"),
    family: template!("family/suite"),
};

/// The skeleton of operator `name` in `family`.
pub(super) fn scaffold(root: &Path, family: &Name, name: &Name) -> Result<Scaffold> {
    let (camel, upper, title) = (name.camel(), name.upper(), name.title());
    let values = [
        ("family", family.snake()),
        ("name", name.snake()),
        ("Name", camel.as_str()),
        ("NAME", upper.as_str()),
        ("title", title.as_str()),
    ];
    let (family, name) = (family.snake(), name.snake());
    let mut scaffold = Scaffold::default();
    let known = root.join(CONTRACT.folder).join(family).exists();
    for station in [&CONTRACT, &REFERENCE, &CPU, &FUNCTION, &SUITE] {
        let folder = format!("{}/{family}", station.folder);
        scaffold.file(format!("{folder}/{name}.rs"), station.operator, &values)?;
        if !known {
            scaffold.file(format!("{folder}/mod.rs"), station.family, &values)?;
        }
    }
    scaffold.file(
        format!("docs/contracts/{name}.md"),
        include_str!("../../templates/operator/page.md.tmpl"),
        &values,
    )?;
    scaffold.file(
        format!("suites/{family}/{name}.toml"),
        include_str!("../../templates/operator/workload.toml.tmpl"),
        &values,
    )?;

    let mut edit = |file: String, line: String, place: Place| scaffold.edits.push(Edit { file, line, place });
    if known {
        // The only list that an operator joins: everything else is made from it.
        let list = Place::Before { text: "        }", after: "_operators {" };
        edit(format!("{}/{family}/mod.rs", CONTRACT.folder), format!("            {name}: {camel},"), list);
    } else {
        let all = |station: &Station| format!("{}/mod.rs", station.folder);
        edit(all(&CONTRACT), format!("pub mod {family};"), Place::Among("pub mod "));
        edit(all(&CONTRACT), format!("{family}::OPERATIONS"), Place::List { head: "const FAMILIES" });
        let list = format!("        $crate::{family}_operators!($then $($with)*);");
        edit(all(&CONTRACT), list, Place::Before { text: "    };", after: "macro_rules! operators" });
        edit(all(&REFERENCE), format!("pub mod {family};"), Place::Among("pub mod "));
        edit(all(&CPU), format!("mod {family};"), Place::Among("mod "));
        edit(all(&FUNCTION), format!("mod {family};"), Place::Among("mod "));
        edit(all(&FUNCTION), format!("pub use {family}::*;"), Place::Among("pub use "));
        edit(all(&SUITE), format!("mod {family};"), Place::Among("mod "));
    }
    scaffold.left = vec![
        format!("run it as it is: cargo xtask numerics --operation {name}"),
        "the contract: the formula and its source, the modes, the facts with their legal values, the tensors".into(),
        "the reference, in f64, rounding where the mode rounds and nowhere else".into(),
        "the CPU kernel, then the public function's arguments and words".into(),
        "the suite: shapes of four model families, edges of the arithmetic, one case past 2^31 elements in tier full"
            .into(),
        format!("suites/{family}/{name}.toml: labels of the bench cases, with the shapes of four model families"),
        format!(
            "docs/contracts/{name}.md; OPWEAVE_UPDATE_PAGES=1 cargo test -p opweave-contract fills in its declaration"
        ),
    ];
    Ok(scaffold)
}

/// The families that have operators, sorted.
pub(super) fn families(root: &Path) -> Result<Vec<String>> {
    let mut families = Vec::new();
    for entry in fs::read_dir(root.join(CONTRACT.folder)).context("failed to list the families")? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            families.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    families.sort();
    Ok(families)
}
