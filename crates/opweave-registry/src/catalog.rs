// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The support matrix: every row that was declared or registered, available or not, with its reason.

use opweave_contract::LibraryDecl;
use opweave_tensor::DeviceKind;

use crate::{FrozenRegistry, Reject, Row};

/// Whether a row can run in this process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Availability {
    /// It can, where its needs are met.
    Available,
    /// It cannot, and why.
    Unavailable(Reject),
}

/// One line of the support matrix.
#[derive(Clone, Debug)]
pub struct CatalogRow<'a> {
    /// The operation.
    pub operation: &'static str,
    /// The row's name.
    pub name: &'a str,
    /// The device-qualified solution, such as `cpu.native`.
    pub solution: String,
    /// The kind of device, by the solution's first word where the row is not part of the build.
    pub device: Option<DeviceKind>,
    /// The libraries that were declared.
    pub libraries: &'static [LibraryDecl],
    /// Whether it can run.
    pub availability: Availability,
    /// The registered row; `None` where its solution is not part of the build.
    pub row: Option<&'a Row>,
}

/// A catalog that contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// A row was declared, its solution is there, and it was not registered.
    #[error(
        "row `{name}` of {operation} is declared and solution {solution} is part of this build, but did not register it"
    )]
    NotRegistered {
        /// The row.
        name: String,
        /// Its operation.
        operation: String,
        /// Its solution.
        solution: String,
    },
    /// A row was registered that nobody declared.
    #[error("row `{name}` of {operation} is registered, at {origin}, but not declared")]
    NotDeclared {
        /// The row.
        name: String,
        /// Its operation.
        operation: String,
        /// Where it was registered.
        origin: String,
    },
    /// A row was declared for one operation or solution and registered for another.
    #[error("row `{name}` is declared for {declared} and registered for {registered}")]
    Mismatch {
        /// The row.
        name: String,
        /// Operation and solution as declared.
        declared: String,
        /// Operation and solution as registered.
        registered: String,
    },
}

/// The support matrix of a frozen registry, in byte order of (operation, row). Needs no hardware.
///
/// # Errors
/// [`CatalogError`] when declarations and registrations disagree.
pub fn collect_catalog(registry: &FrozenRegistry) -> Result<Vec<CatalogRow<'_>>, CatalogError> {
    let mut rows = Vec::with_capacity(registry.declared.len());
    for (&name, &(operation, declaration)) in &registry.declared {
        let row = registry.rows.get(name);
        let present = registry.solutions.iter().any(|s| s == declaration.solution);
        let availability = match row {
            Some(row) => {
                let solution = format!("{}.{}", row.spec.device, row.spec.solution);
                if row.operation != operation || solution != declaration.solution {
                    return Err(CatalogError::Mismatch {
                        name: name.to_owned(),
                        declared: format!("{operation} in {}", declaration.solution),
                        registered: format!("{} in {solution}", row.operation),
                    });
                }
                row.unavailable().map_or(Availability::Available, |r| Availability::Unavailable(r.clone()))
            }
            None if present => {
                return Err(CatalogError::NotRegistered {
                    name: name.to_owned(),
                    operation: operation.to_owned(),
                    solution: declaration.solution.to_owned(),
                });
            }
            None => {
                Availability::Unavailable(Reject::NotCompiled { feature: device_word(declaration.solution).to_owned() })
            }
        };
        rows.push(CatalogRow {
            operation,
            name,
            solution: declaration.solution.to_owned(),
            device: row.map(|r| r.spec.device).or_else(|| device_word(declaration.solution).parse().ok()),
            libraries: declaration.libraries,
            availability,
            row,
        });
    }
    if let Some(row) = registry.rows().find(|row| !registry.declared.contains_key(row.spec.name.as_str())) {
        return Err(CatalogError::NotDeclared {
            name: row.spec.name.clone(),
            operation: row.operation.to_owned(),
            origin: row.origin.to_string(),
        });
    }
    rows.sort_by(|a, b| (a.operation, a.name).cmp(&(b.operation, b.name)));
    Ok(rows)
}

/// The first word of a device-qualified solution: both the kind of device and the feature that brings it.
fn device_word(solution: &str) -> &str {
    solution.split('.').next().unwrap_or(solution)
}
