// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! All suites there are, and what makes a set of them unusable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use opweave_contract::Operator;

use super::erased::Erased;
use super::{ArgumentError, CaseDefect, DynSuite, SHARED_ARGUMENTS, Suite};

/// A mistake in a suite or a set of suites: found before anything runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogDefect {
    /// Two suites for one operation.
    #[error("operation `{0}` has two suites")]
    Twice(&'static str),
    /// A suite's argument that is a shared one.
    #[error("argument `{argument}` of the suite of `{operation}` collides with the shared option of that name")]
    SharedArgument {
        /// The operation.
        operation: &'static str,
        /// The argument.
        argument: &'static str,
    },
    /// Two cases with one label.
    #[error("{list} of `{operation}` have the label `{label}` twice")]
    Label {
        /// The operation.
        operation: &'static str,
        /// `cases` or `bench cases`.
        list: &'static str,
        /// The label.
        label: String,
    },
    /// A case that its operator cannot be called with.
    #[error(transparent)]
    Case(#[from] CaseDefect),
    /// A suite that refuses to list its cases.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// A suite without cases.
    #[error("the suite of `{0}` has no cases")]
    Empty(&'static str),
}

/// Suites by operation.
#[derive(Default)]
pub struct SuiteSet(BTreeMap<&'static str, Box<dyn DynSuite>>);

impl SuiteSet {
    /// No suites.
    pub fn new() -> SuiteSet {
        SuiteSet::default()
    }

    /// Adds the suite of an operator: one of opweave's, or of an operator that another crate declares.
    ///
    /// # Errors
    /// [`CatalogDefect`] when the operation has a suite, or an argument collides with a shared one. The set is then as it
    /// was.
    pub fn add<S: Suite>(&mut self, suite: S) -> Result<(), CatalogDefect> {
        let operation = S::Op::NAME;
        if self.0.contains_key(operation) {
            return Err(CatalogDefect::Twice(operation));
        }
        let taken = suite.arguments().iter().find(|a| SHARED_ARGUMENTS.contains(&a.name));
        if let Some(argument) = taken {
            return Err(CatalogDefect::SharedArgument { operation, argument: argument.name });
        }
        self.0.insert(operation, Box::new(Erased(Arc::new(suite))));
        Ok(())
    }

    /// The suite of an operation.
    pub fn get(&self, operation: &str) -> Option<&dyn DynSuite> {
        self.0.get(operation).map(Box::as_ref)
    }

    /// All suites, in byte order of their operations.
    pub fn iter(&self) -> impl Iterator<Item = &dyn DynSuite> {
        self.0.values().map(Box::as_ref)
    }

    /// The operations, in byte order.
    pub fn operations(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// Lists every suite and checks it: labels unique, cases legal. Needs no device.
    ///
    /// # Errors
    /// The first [`CatalogDefect`].
    pub fn check(&self) -> Result<(), CatalogDefect> {
        for suite in self.iter() {
            let operation = suite.operation();
            for (list, cases) in [("cases", suite.cases(&[])?), ("bench cases", suite.bench_cases(&[])?)] {
                let mut labels = BTreeSet::new();
                if cases.is_empty() {
                    return Err(CatalogDefect::Empty(operation));
                }
                for case in cases {
                    case.check()?;
                    let label = case.info().label;
                    if !labels.insert(label.clone()) {
                        return Err(CatalogDefect::Label { operation, list, label });
                    }
                }
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for SuiteSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.operations()).finish()
    }
}
