// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Overrides: a caller who wants one implementation gets that one, or an error.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use opweave_contract::nearest;
use opweave_registry::{FrozenRegistry, Row, override_variable};

use crate::Environment;

/// Where an override came from. Later ones beat earlier ones.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum OverrideSource {
    /// The configuration.
    Argument,
    /// The environment, by this variable.
    Environment(String),
    /// An earlier initialize, which fixed the row of an operation asked for by name.
    Initialize,
}

impl fmt::Display for OverrideSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OverrideSource::Argument => f.write_str("from the configuration"),
            OverrideSource::Initialize => f.write_str("fixed at initialize"),
            OverrideSource::Environment(variable) => write!(f, "from {variable}"),
        }
    }
}

/// The override of one operation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Override {
    /// The value, trimmed.
    pub value: String,
    /// Where it came from.
    pub source: OverrideSource,
}

impl Override {
    /// Whether the override names a row: by its full name if any row of the operation has it, else by its solution or
    /// device-qualified solution.
    pub fn matches(&self, row: &Row, full_name: bool) -> bool {
        let spec = row.spec();
        if full_name {
            return spec.name == self.value;
        }
        spec.solution == self.value || format!("{}.{}", spec.device, spec.solution) == self.value
    }

    /// Whether the value is the full name of some row of the operation.
    pub fn is_full_name(&self, registry: &FrozenRegistry, operation: &str) -> bool {
        registry.rows_of(operation).any(|row| row.spec().name == self.value)
    }

    /// Checks that the value names something of the operation.
    ///
    /// # Errors
    /// [`OverrideError::Unknown`] with the known names and the nearest spelling.
    pub fn check(&self, registry: &FrozenRegistry, operation: &str) -> Result<(), OverrideError> {
        let mut known = BTreeSet::new();
        for row in registry.rows_of(operation) {
            let spec = row.spec();
            known.extend([spec.name.clone(), spec.solution.clone(), format!("{}.{}", spec.device, spec.solution)]);
        }
        if known.contains(&self.value) {
            return Ok(());
        }
        let hint = nearest(&self.value, known.iter().map(String::as_str));
        Err(OverrideError::Unknown {
            operation: operation.to_owned(),
            value: self.value.clone(),
            origin: self.source.clone(),
            hint: hint.map_or_else(String::new, |h| format!("; did you mean `{h}`?")),
            known: known.into_iter().collect(),
        })
    }
}

/// An override that cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OverrideError {
    /// The value names no row and no solution of the operation.
    #[error("override `{value}` of {operation} ({origin}) is unknown; expected one of {known}{hint}", known = .known.join(", "))]
    Unknown {
        /// The operation.
        operation: String,
        /// The value.
        value: String,
        /// Where it came from.
        origin: OverrideSource,
        /// The names and solutions there are.
        known: Vec<String>,
        /// The nearest spelling, as a phrase, or empty.
        hint: String,
    },
    /// An argument overrides an operation that was not asked for.
    #[error("override of `{operation}` ({origin}) is outside the operations asked for: {asked}", asked = .asked.join(", "), origin = OverrideSource::Argument)]
    Outside {
        /// The operation.
        operation: String,
        /// The operations asked for.
        asked: Vec<String>,
    },
    /// A variable with the prefix that belongs to no operation at all.
    #[error("{variable} overrides no operation; expected one of {known}{hint}", known = .known.join(", "))]
    Variable {
        /// The variable.
        variable: String,
        /// The variables there are.
        known: Vec<String>,
        /// The nearest spelling, as a phrase, or empty.
        hint: String,
    },
}

/// The overrides in force, and remarks about those that are not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Overrides {
    by_operation: BTreeMap<String, Override>,
    notes: Vec<String>,
}

impl Overrides {
    /// Resolves arguments and environment for the operations `asked`. `all` are the operations that exist.
    ///
    /// # Errors
    /// [`OverrideError::Outside`] or [`OverrideError::Variable`]; values are checked once rows are known.
    pub fn resolve(
        arguments: &BTreeMap<String, String>,
        environment: &Environment,
        asked: &BTreeSet<String>,
        all: &[&str],
    ) -> Result<Self, OverrideError> {
        let mut overrides = Overrides::default();
        for (operation, value) in arguments {
            if !asked.contains(operation) {
                let asked = asked.iter().cloned().collect();
                return Err(OverrideError::Outside { operation: operation.clone(), asked });
            }
            overrides.put(operation, value, OverrideSource::Argument);
        }
        for (variable, value) in environment.overrides() {
            let Some(operation) = all.iter().find(|op| override_variable(op) == variable) else {
                let known: Vec<String> = all.iter().map(|op| override_variable(op)).collect();
                let hint = nearest(variable, known.iter().map(String::as_str));
                let hint = hint.map_or_else(String::new, |h| format!("; did you mean {h}?"));
                return Err(OverrideError::Variable { variable: variable.to_owned(), known, hint });
            };
            if asked.contains(*operation) {
                overrides.put(operation, value, OverrideSource::Environment(variable.to_owned()));
            } else {
                overrides.notes.push(format!("{variable} is ignored: {operation} was not asked for"));
            }
        }
        Ok(overrides)
    }

    fn put(&mut self, operation: &str, value: &str, source: OverrideSource) {
        let value = value.trim();
        if value.is_empty() {
            self.notes.push(format!("the override of {operation} ({source}) is blank and counts as unset"));
        } else {
            self.by_operation.insert(operation.to_owned(), Override { value: value.to_owned(), source });
        }
    }

    /// The override of an operation.
    pub fn get(&self, operation: &str) -> Option<&Override> {
        self.by_operation.get(operation)
    }

    /// All overrides, by operation.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Override)> {
        self.by_operation.iter().map(|(op, value)| (op.as_str(), value))
    }

    /// Remarks: blank values, variables of operations that were not asked for.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}
