// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave catalog`: the support matrix.

use anyhow::Context as _;
use comfy_table::Table;
use opweave_registry::{Availability, CatalogRow, FrozenRegistry, collect_catalog};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::CatalogArgs;
use crate::exit::{Exit, Failure};
use crate::output::{LINES, Output, SCHEMA_VERSION};
use crate::{names, solutions};

/// Lists every row. A catalogue that contradicts itself is an error, not a list.
pub(crate) fn run(args: &CatalogArgs, out: &mut Output) -> Result<Exit, Failure> {
    let registry = solutions::registry(&solutions::runtime())?;
    let known: Vec<&str> = registry.operations().map(|o| o.operation).collect();
    if let Some(given) = args.operations.iter().find(|o| !known.contains(&o.as_str())) {
        return Err(names::unknown("operation", given, &known));
    }
    let mut rows = collect_catalog(&registry).context("failed to collect the catalogue")?;
    if !args.operations.is_empty() {
        rows.retain(|row| args.operations.iter().any(|o| o == row.operation));
    }
    if args.json {
        out.json(&json(&registry, &rows, &args.operations))?;
    } else {
        table(&rows, out)?;
    }
    Ok(Exit::Good)
}

fn table(rows: &[CatalogRow<'_>], out: &mut Output) -> Result<(), Failure> {
    let mut table = Table::new();
    table.load_style(LINES);
    table.set_header(["operation", "implementation", "modes", "priority", "needs", "state"]);
    out.fit(&mut table);
    for row in rows {
        let spec = row.row.map(opweave_registry::Row::spec);
        let state = match &row.availability {
            Availability::Available => "available".to_owned(),
            Availability::Unavailable(why) => why.to_string(),
        };
        table.add_row([
            row.operation.to_owned(),
            row.name.to_owned(),
            spec.map_or_else(String::new, |s| words(&s.modes)),
            spec.map_or_else(String::new, |s| s.priority.to_string()),
            spec.map_or_else(String::new, |s| s.needs.to_string()),
            state,
        ]);
    }
    out.table(&table)?;
    let available = rows.iter().filter(|r| r.availability == Availability::Available).count();
    out.line(format_args!("{available} of {} implementations are available", rows.len()))
}

fn words(values: &[impl ToString]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// What `catalog --json` writes.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CatalogJson {
    /// Version of this format.
    schema_version: u32,
    /// The operations.
    operations: Vec<OperationJson>,
    /// Every implementation that was declared, in order of operation and name.
    implementations: Vec<ImplementationJson>,
}

/// One operation.
#[derive(Serialize, JsonSchema)]
struct OperationJson {
    operation: String,
    /// One contract for each numerical mode, by its label.
    contracts: Vec<String>,
}

/// One implementation.
#[derive(Serialize, JsonSchema)]
struct ImplementationJson {
    operation: String,
    name: String,
    /// Device-qualified solution.
    solution: String,
    device: Option<String>,
    /// `null` fields below belong to implementations that are not part of this build.
    variant: Option<String>,
    binding: Option<String>,
    contracts: Option<Vec<String>>,
    execution_modes: Option<Vec<String>>,
    priority: Option<i32>,
    deterministic: Option<bool>,
    batch_invariant: Option<bool>,
    /// Where it applies, in words.
    input_domain: Option<String>,
    /// Libraries with the oldest version that will do.
    libraries: Vec<LibraryJson>,
    available: bool,
    /// Kind of the reason why it is unavailable.
    reason_kind: Option<String>,
    /// The reason in words.
    reason: Option<String>,
}

/// A library.
#[derive(Serialize, JsonSchema)]
struct LibraryJson {
    name: String,
    minimum: String,
}

fn json(registry: &FrozenRegistry, rows: &[CatalogRow<'_>], only: &[String]) -> CatalogJson {
    let operations = registry
        .operations()
        .filter(|o| only.is_empty() || only.iter().any(|name| name == o.operation))
        .map(|o| OperationJson {
            operation: o.operation.to_owned(),
            contracts: o.contracts.iter().map(|c| c.label()).collect(),
        })
        .collect();
    CatalogJson { schema_version: SCHEMA_VERSION, operations, implementations: rows.iter().map(row_json).collect() }
}

fn row_json(row: &CatalogRow<'_>) -> ImplementationJson {
    let spec = row.row.map(opweave_registry::Row::spec);
    let reason = match &row.availability {
        Availability::Available => None,
        Availability::Unavailable(reason) => Some(reason),
    };
    ImplementationJson {
        operation: row.operation.to_owned(),
        name: row.name.to_owned(),
        solution: row.solution.clone(),
        device: row.device.map(|d| d.to_string()),
        variant: spec.and_then(|s| s.variant.clone()),
        binding: spec.map(|s| s.binding.clone()),
        contracts: spec.map(|s| s.contracts.iter().map(|c| c.label()).collect()),
        execution_modes: spec.map(|s| s.modes.iter().map(ToString::to_string).collect()),
        priority: spec.map(|s| s.priority),
        deterministic: spec.map(|s| s.deterministic),
        batch_invariant: spec.map(|s| s.batch_invariant),
        input_domain: spec.map(|s| s.needs.to_string()),
        libraries: row
            .libraries
            .iter()
            .map(|l| LibraryJson { name: l.name.to_owned(), minimum: l.minimum.to_owned() })
            .collect(),
        available: reason.is_none(),
        reason_kind: reason.map(|r| r.kind().to_owned()),
        reason: reason.map(ToString::to_string),
    }
}
