// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The skeleton of a further CPU kernel for an operator.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::names::Name;
use super::scaffold::{Edit, Place, Scaffold};

const CONTRACTS: &str = "crates/opweave-contract/src/ops";
const ROWS: &str = "crates/opweave-cpu/src/ops";

/// The skeleton of row `cpu.native.OPERATOR.VARIANT`.
pub(super) fn scaffold(root: &Path, operator: &Name, variant: &Name) -> Result<Scaffold> {
    let family = family_of(root, operator)?;
    let camel = operator.camel();
    let (name, variant) = (operator.snake(), variant.snake());
    let values = [("family", family.as_str()), ("name", name), ("Name", camel.as_str()), ("variant", variant)];
    let mut scaffold = Scaffold::default();
    let module = format!("{name}_{variant}");
    scaffold.file(
        format!("{ROWS}/{family}/{module}.rs"),
        include_str!("../../templates/kernel/row.rs.tmpl"),
        &values,
    )?;
    scaffold.edits = vec![
        Edit {
            file: format!("{ROWS}/{family}/mod.rs"),
            line: format!("pub(super) mod {module};"),
            place: Place::After("_operators!(modules);"),
        },
        Edit {
            file: format!("{ROWS}/mod.rs"),
            line: format!("    {family}::{module}::register(registry)?;"),
            place: Place::Before { text: "    Ok(())", after: "fn register" },
        },
        Edit {
            file: format!("{CONTRACTS}/{family}/{name}.rs"),
            line: format!(
                "        ImplementationDecl {{ name: \"cpu.native.{name}.{variant}\", solution: \"cpu.native\", libraries: &[] }},"
            ),
            place: Place::Before { text: "    ],", after: "const DECLARATION" },
        },
    ];
    scaffold.left = vec![
        format!("run it as it is: cargo xtask numerics --implementation cpu.native.{name}.{variant}"),
        "the needs: features of the processor, ranges and multiples of facts; where they end, cases begin by themselves".into(),
        "the body in place of the portable kernel's, with its registers, loads and tails".into(),
        format!("its price: cargo xtask bench --implementation cpu.native.{name}.{variant} --baseline cpu.native.{name}.portable"),
        "its priority, once the numbers say so; snapshots that list every row: INSTA_UPDATE=always cargo test, then read them".into(),
    ];
    Ok(scaffold)
}

/// The family that the operator's contract lies in.
fn family_of(root: &Path, operator: &Name) -> Result<String> {
    let file = format!("{}.rs", operator.snake());
    for entry in fs::read_dir(root.join(CONTRACTS)).context("failed to list the families")? {
        let folder = entry?.path();
        if folder.join(&file).is_file() {
            return Ok(folder.file_name().unwrap_or_default().to_string_lossy().into_owned());
        }
    }
    anyhow::bail!("no operator {}: there is no {CONTRACTS}/*/{file}", operator.snake())
}
