// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Contract pages: the part that is generated is what the declaration says, and the rest speaks of what there is.

use std::path::PathBuf;

use opweave_contract::{MultiplyIn, OperationDecl};

/// The generated part stands between these lines.
const BEGIN: &str = "<!-- generated from the declaration -->";
const END: &str = "<!-- end -->";

/// The facts, arguments and contracts of an operation, as its page shows them.
fn generated(operation: &OperationDecl) -> String {
    let signature = operation.operator.signature();
    let doc: Vec<&str> = signature.doc.trim().lines().map(str::trim).collect();
    let mut text = format!("{}\n\n{}\n", doc.join("\n"), signature.markdown().trim_end());
    text += "\n| numerical mode | version | accumulates in | rounded on the way | weight multiplied in |\n";
    text += "| --- | --- | --- | --- | --- |\n";
    for contract in operation.contracts {
        let mode = &contract.numerical_mode;
        let name = if mode.name.is_empty() { "the only one".to_owned() } else { format!("`{}`", mode.name) };
        let roundings: Vec<&str> = mode.roundings.iter().map(|rounding| rounding.value).collect();
        let roundings = if roundings.is_empty() { "nothing".to_owned() } else { roundings.join(", ") };
        let multiply = match mode.weight_multiply {
            None => "-".to_owned(),
            Some(MultiplyIn::F32) => "f32".to_owned(),
            Some(MultiplyIn::Activation) => "the activation's dtype".to_owned(),
            Some(other) => format!("{other:?}"),
        };
        text += &format!("| {name} | {} | {} | {roundings} | {multiply} |\n", contract.version, mode.accumulation);
    }
    text
}

fn page(operation: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/contracts/{operation}.md"))
}

#[test]
fn every_page_shows_its_declaration() {
    for operation in opweave_contract::ops::operations() {
        let path = page(operation.operation);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let parts = text.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?)));
        let Some((head, (shown, tail))) = parts else {
            panic!("{} has no part between `{BEGIN}` and `{END}`", path.display());
        };
        let now = format!("\n\n{}\n", generated(operation));
        if std::env::var_os("OPWEAVE_UPDATE_PAGES").is_some() {
            std::fs::write(&path, format!("{head}{BEGIN}{now}{END}{tail}")).unwrap();
        } else {
            assert!(
                shown == now,
                "{} differs from its declaration: run this test once with OPWEAVE_UPDATE_PAGES=1 and review the diff",
                path.display()
            );
        }
    }
}

#[test]
fn every_page_speaks_of_every_argument() {
    for operation in opweave_contract::ops::operations() {
        let text = std::fs::read_to_string(page(operation.operation)).unwrap();
        let (head, rest) = text.split_once(BEGIN).unwrap();
        let prose = format!("{head}{}", rest.split_once(END).unwrap().1);
        assert!(prose.starts_with(&format!("# {}\n", operation.operation)));
        for section in ["## Values", "## Memory", "## Workspace, stream, graph"] {
            assert!(prose.contains(section), "{}: no section {section}", operation.operation);
        }
        let signature = operation.operator.signature();
        for name in signature.tensors.iter().map(|t| t.name).chain(signature.scalars.iter().map(|s| s.name)) {
            assert!(prose.contains(&format!("`{name}`")), "{}: the page never mentions `{name}`", operation.operation);
        }
    }
}
