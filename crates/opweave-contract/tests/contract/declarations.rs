// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Declarations: contracts agree with signatures, names are unique, the table of a contract page.

use std::collections::BTreeSet;

use opweave_contract::ops::{self, normalization};
use opweave_contract::{Operator, Role};

use crate::probe::Probe;

#[test]
fn contracts_say_of_mutation_and_aliasing_what_signatures_say() {
    for operation in ops::operations() {
        let signature = operation.operator.signature();
        let mutated: Vec<&str> = signature.tensors.iter().filter(|t| t.role == Role::InOut).map(|t| t.name).collect();
        let aliased: Vec<(&str, &str)> =
            signature.tensors.iter().flat_map(|t| t.aliases.iter().map(move |a| (t.name, *a))).collect();
        for contract in operation.contracts {
            let label = contract.label();
            assert_eq!(contract.operation, operation.operation, "{label}");
            assert_eq!(contract.mutates, mutated, "{label}");
            assert_eq!(contract.aliases, aliased, "{label}");
            assert!(contract.version >= 1, "{label}");
        }
        for tensor in signature.tensors {
            for alias in tensor.aliases {
                let other = signature.tensor(alias).map(|i| &signature.tensors[i]).unwrap();
                assert!(
                    tensor.role.writes() && !other.role.writes(),
                    "{}: {} aliases {alias}",
                    operation.operation,
                    tensor.name
                );
            }
        }
    }
}

#[test]
fn every_mode_has_one_contract_of_its_own() {
    for operation in ops::operations() {
        let labels: BTreeSet<String> = operation.contracts.iter().map(|c| c.label()).collect();
        assert_eq!(labels.len(), operation.contracts.len(), "{}: {labels:?}", operation.operation);
        for (i, contract) in operation.contracts.iter().enumerate() {
            assert!(!operation.contracts[..i].contains(contract), "{}", contract.label());
        }
    }
}

#[test]
fn names_are_unique_and_speak_the_projects_language() {
    let mut operations = BTreeSet::new();
    let mut rows = BTreeSet::new();
    for operation in ops::operations() {
        assert!(operations.insert(operation.operation), "{} twice", operation.operation);
        let signature = operation.operator.signature();
        let mut names: Vec<&str> = signature.tensors.iter().map(|t| t.name).collect();
        names.extend(signature.scalars.iter().map(|s| s.name));
        names.extend(signature.facts.iter().map(|f| f.name));
        names.extend(signature.dims.iter().map(|d| d.name));
        let unique: BTreeSet<&&str> = names.iter().collect();
        assert_eq!(unique.len(), names.len(), "{}: {names:?}", operation.operation);
        for row in operation.implementations {
            assert!(rows.insert(row.name), "{} twice", row.name);
            assert!(row.name.starts_with(row.solution), "{} is no row of {}", row.name, row.solution);
            assert!(row.name.contains(operation.operation), "{}", row.name);
        }
    }
}

#[test]
fn everything_on_a_contract_page_is_explained() {
    for operation in ops::operations() {
        let signature = operation.operator.signature();
        let docs = signature.facts.iter().map(|f| (f.name, f.doc));
        let docs = docs.chain(signature.tensors.iter().map(|t| (t.name, t.doc)));
        let docs = docs.chain(signature.scalars.iter().map(|s| (s.name, s.doc)));
        for (name, doc) in docs.chain(signature.dims.iter().map(|d| (d.name, d.doc))) {
            assert!(doc.trim().len() > 3, "{}: `{name}` is not explained", operation.operation);
        }
    }
}

#[test]
fn the_table_of_a_contract_page() {
    insta::assert_snapshot!("fused_add_rms_norm", normalization::FusedAddRmsNorm::signature().markdown());
    insta::assert_snapshot!("probe", Probe::signature().markdown());
}
