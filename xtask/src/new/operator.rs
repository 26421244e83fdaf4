// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The skeleton of an operator, and of its family where that is new.

use std::path::Path;

use anyhow::Result;

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

    let mut edit = |station: &Station, inside: bool, line: String, place: Place| {
        let middle = if inside { format!("{family}/") } else { String::new() };
        scaffold.edits.push(Edit { file: format!("{}/{middle}mod.rs", station.folder), line, place });
    };
    if known {
        let types = format!("{{{camel}, {camel}Args, {camel}Problem}};");
        let all = format!("{{{upper}, {camel}, {camel}Args, {camel}Problem}};");
        edit(&CONTRACT, true, format!("mod {name};"), Place::Among("mod "));
        edit(&CONTRACT, true, format!("pub use {name}::{all}"), Place::Among("pub use "));
        edit(&CONTRACT, true, format!("{name}::DECLARATION"), list("const OPERATIONS"));
        edit(&REFERENCE, true, format!("pub mod {name};"), Place::Among("pub mod "));
        edit(&CPU, true, format!("mod {name};"), Place::Among("mod "));
        let row = format!("    rows::<opweave_contract::ops::{family}::{camel}>(registry)?;");
        edit(&CPU, true, row, before("    rows::<", "fn register"));
        edit(&FUNCTION, true, format!("mod {name};"), Place::Among("mod "));
        edit(&FUNCTION, true, format!("pub use {name}::{name};"), Place::Among("pub use "));
        edit(&FUNCTION, true, format!("pub use opweave_contract::ops::{family}::{types}"), Place::Among("pub use "));
        edit(&SUITE, true, format!("mod {name};"), Place::Among("mod "));
        edit(&SUITE, true, format!("    set.add({name}::{camel}Suite)?;"), before("    set.add", "fn add"));
    } else {
        edit(&CONTRACT, false, format!("pub mod {family};"), Place::Among("pub mod "));
        edit(&CONTRACT, false, format!("{family}::OPERATIONS"), list("const FAMILIES"));
        edit(&REFERENCE, false, format!("pub mod {family};"), Place::Among("pub mod "));
        edit(&CPU, false, format!("mod {family};"), Place::Among("mod "));
        edit(&CPU, false, format!("    {family}::register(registry)?;"), before("::register(registry)", "fn register"));
        edit(&FUNCTION, false, format!("mod {family};"), Place::Among("mod "));
        edit(&FUNCTION, false, format!("pub use {family}::*;"), Place::Among("pub use "));
        edit(&SUITE, false, format!("mod {family};"), Place::Among("mod "));
        edit(&SUITE, false, format!("    {family}::add(&mut set)?;"), before("::add(&mut set)", "fn builtin"));
    }
    scaffold.edits.push(Edit {
        file: "crates/opweave-contract/tests/contract/main.rs".to_owned(),
        line: format!("            $function::<opweave_contract::ops::{family}::{camel}>(),"),
        place: before("];", "let mut covered"),
    });
    scaffold.left = vec![
        format!("run it as it is: cargo xtask numerics --operation {name}"),
        "the contract: the formula and its source, the modes, the facts with their legal values, the tensors".into(),
        "the reference, in f64, rounding where the mode rounds and nowhere else".into(),
        "the CPU kernel, then the public function's arguments and words".into(),
        "the suite: shapes of four model families, edges of the arithmetic, one case past 2^31 elements in tier full"
            .into(),
        format!(
            "docs/contracts/{name}.md; OPWEAVE_UPDATE_PAGES=1 cargo test -p opweave-contract fills in its declaration"
        ),
        format!("{camel} in a list of `register_all` in crates/opweave-numerics/tests/numerics/support.rs"),
    ];
    Ok(scaffold)
}

fn before(text: &'static str, after: &'static str) -> Place {
    Place::Before { text, after }
}

fn list(head: &'static str) -> Place {
    Place::List { head }
}
