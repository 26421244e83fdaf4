// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The skeleton of a solution for the CPU.

use anyhow::Result;

use super::names::Name;
use super::scaffold::{Edit, Place, Scaffold};

const ARCHITECTURE: &str = "docs/architecture.md";
const FACADE: &str = "crates/opweave";
const DECLARATION: &str = "crates/opweave-contract/src/ops/normalization/rms_norm.rs";

/// The skeleton of crate `opweave-NAME` with one row.
pub(super) fn scaffold(name: &Name) -> Result<Scaffold> {
    let name = name.snake();
    let package = format!("opweave-{name}");
    let folder = format!("crates/{package}");
    let values = [("name", name)];
    let mut scaffold = Scaffold::default();
    let mut file = |path: &str, template| scaffold.file(format!("{folder}/{path}"), template, &values);
    file("Cargo.toml", include_str!("../../templates/solution/Cargo.toml.tmpl"))?;
    file("src/lib.rs", include_str!("../../templates/solution/lib.rs.tmpl"))?;
    file("src/rms_norm.rs", include_str!("../../templates/solution/rms_norm.rs.tmpl"))?;
    scaffold.links = ["LICENSE", "NOTICE"].map(|file| (format!("{folder}/{file}"), format!("../../{file}"))).to_vec();

    let mut edit =
        |file: &str, line: String, place: Place| scaffold.edits.push(Edit { file: file.to_owned(), line, place });
    edit("Cargo.toml", format!("{package} = {{ path = \"{folder}\", version = \"0.1.0\" }}"), Place::Among("opweave-"));
    edit(
        ARCHITECTURE,
        format!("| `{package}` | the {name} solution: its kernels and their rows | `opweave-registry` |"),
        Place::Before { text: "| `opweave-numerics` |", after: "| crate | one responsibility |" },
    );
    edit(
        ARCHITECTURE,
        format!("`opweave-cpu`, `{package}`"),
        Place::Within { start: "| `opweave` | facade", from: "`opweave-cpu`" },
    );
    edit(
        ARCHITECTURE,
        format!("| `{package}` | any | kernels over raw rows |"),
        Place::Before { text: "| `opweave-registry` |", after: "| crate | unsafe |" },
    );
    let manifest = format!("{FACADE}/Cargo.toml");
    let feature = format!("{name} = [\"dep:{package}\"]");
    edit(&manifest, feature, Place::Before { text: "## The CPU solution", after: "[features]" });
    edit(&manifest, format!("{package} = {{ workspace = true, optional = true }}"), Place::Among("opweave-"));
    let solutions = format!("{FACADE}/src/solutions.rs");
    let end = || Place::Before { text: "];", after: "const SOLUTIONS" };
    edit(&solutions, format!("    #[cfg(feature = \"{name}\")]"), end());
    let module = package.replace('-', "_");
    let probe = "opweave_device::cpu::backend";
    edit(
        &solutions,
        format!("    Solution {{ name: \"cpu.{name}\", register: {module}::register, probe: {probe} }},"),
        end(),
    );
    edit(
        DECLARATION,
        format!(
            "        ImplementationDecl {{ name: \"cpu.{name}.rms_norm\", solution: \"cpu.{name}\", libraries: &[] }},"
        ),
        Place::Before { text: "    ],", after: "const DECLARATION" },
    );
    scaffold.left = vec![
        format!("turn it on in the binary: feature \"{name}\" of opweave in crates/opweave-cli/Cargo.toml"),
        format!("run it as it is: cargo xtask numerics --operation rms_norm --implementation cpu.{name}.rms_norm"),
        "rows of your own in place of this one, each declared in its operator's contract file".into(),
        "snapshots that list every row: INSTA_UPDATE=always cargo test, then read what changed".into(),
        "CHANGELOG.md, and the README's table of what exists".into(),
    ];
    Ok(scaffold)
}
