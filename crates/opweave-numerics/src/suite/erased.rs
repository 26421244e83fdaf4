// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Suites without their operator's type: what is asked by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use opweave_contract::{Cost, DynProblem, Operator};

use super::{ArgumentError, Case, CaseDefect, Suite, SuiteArgument, SuiteArguments};
use crate::config::Tier;
use crate::harness::{CaseError, Fixture, PreparedSource};
use crate::input::{Generator, Grade};

/// What is known of a case without preparing anything.
#[derive(Clone, Debug)]
pub struct CaseInfo {
    /// The operation.
    pub operation: &'static str,
    /// The label.
    pub label: String,
    /// The smallest tier that runs it.
    pub tier: Tier,
    /// The grade of its inputs, where it is not the run's.
    pub grade: Option<Grade>,
    /// Everything that decides its numbers, by name.
    pub parameters: BTreeMap<String, String>,
    /// What a call costs at least.
    pub cost: Cost,
}

impl CaseInfo {
    /// `operation/label/seedN`.
    pub fn id(&self, seed: u64) -> String {
        format!("{}/{}/seed{seed}", self.operation, self.label)
    }
}

/// A suite without its operator's type.
pub trait DynSuite: Send + Sync {
    /// The operation.
    fn operation(&self) -> &'static str;
    /// Its own arguments.
    fn arguments(&self) -> &'static [SuiteArgument];
    /// The cases that validation runs.
    ///
    /// # Errors
    /// [`ArgumentError`] for a value that is not legal.
    fn cases(&self, pairs: &[(String, String)]) -> Result<Vec<Box<dyn DynCase>>, ArgumentError>;
    /// The cases that a benchmark times.
    ///
    /// # Errors
    /// [`ArgumentError`] for a value that is not legal.
    fn bench_cases(&self, pairs: &[(String, String)]) -> Result<Vec<Box<dyn DynCase>>, ArgumentError>;
    /// Cases on both sides of the boundaries of a fact; those that are no legal problem are left out.
    fn boundary_cases(&self, boundaries: &[(&'static str, u64)]) -> Vec<Box<dyn DynCase>>;
    /// Cases that promise what an implementation wants promised, and keep it exactly.
    fn promise_cases(&self, promises: &[(&'static str, opweave_contract::Promise)]) -> Vec<Box<dyn DynCase>>;
}

/// A case without its operator's type.
pub trait DynCase: Send + Sync {
    /// What is known of it.
    fn info(&self) -> CaseInfo;
    /// The problem.
    fn problem(&self) -> DynProblem;
    /// Checks the case against its operator.
    ///
    /// # Errors
    /// [`CaseDefect`].
    fn check(&self) -> Result<(), CaseDefect>;
    /// Draws the inputs and computes the reference: everything that all implementations share.
    ///
    /// # Errors
    /// [`CaseError`].
    fn fixture(&self, generator: &Generator) -> Result<Box<dyn PreparedSource>, CaseError>;
}

/// Where boundary cases stop: a row of this many elements is a matter of the full tier, and twice that of none.
const LARGE_FACT: u64 = 1 << 20;

pub(super) struct Erased<S>(pub(super) Arc<S>);

struct ErasedCase<S: Suite> {
    suite: Arc<S>,
    case: Case<S::Op>,
}

impl<S: Suite> Erased<S> {
    fn erase(&self, cases: Vec<Case<S::Op>>) -> Vec<Box<dyn DynCase>> {
        let erase = |case| Box::new(ErasedCase { suite: Arc::clone(&self.0), case }) as Box<dyn DynCase>;
        cases.into_iter().map(erase).collect()
    }

    /// The base problem with facts replaced or added, if that is legal.
    fn varied(&self, facts: &[(String, String)]) -> Option<<S::Op as Operator>::Problem> {
        let mut text = self.0.base();
        for (name, value) in facts {
            text.retain(|pair| pair.split('=').next() != Some(name));
            text.push(format!("{name}={value}"));
        }
        S::Op::problem_from(&text).ok()
    }

    /// Every dynamic dimension at `size`, or its least.
    fn dims(size: usize) -> Vec<usize> {
        S::Op::signature().dims.iter().map(|d| size.max(d.min)).collect()
    }
}

impl<S: Suite> DynSuite for Erased<S> {
    fn operation(&self) -> &'static str {
        S::Op::NAME
    }

    fn arguments(&self) -> &'static [SuiteArgument] {
        self.0.arguments()
    }

    fn cases(&self, pairs: &[(String, String)]) -> Result<Vec<Box<dyn DynCase>>, ArgumentError> {
        Ok(self.erase(self.0.cases(&SuiteArguments::take(self.arguments(), pairs)?)))
    }

    fn bench_cases(&self, pairs: &[(String, String)]) -> Result<Vec<Box<dyn DynCase>>, ArgumentError> {
        Ok(self.erase(self.0.bench_cases(&SuiteArguments::take(self.arguments(), pairs)?)))
    }

    fn boundary_cases(&self, boundaries: &[(&'static str, u64)]) -> Vec<Box<dyn DynCase>> {
        let legal = boundaries.iter().filter(|(_, value)| *value <= 2 * LARGE_FACT);
        let cases = legal.filter_map(|&(fact, value)| {
            let problem = self.varied(&[(fact.to_owned(), value.to_string())])?;
            let tier = if value >= LARGE_FACT { Tier::Full } else { Tier::Default };
            Some(Case::new(format!("boundary_{fact}_{value}"), problem, &Self::dims(3)).tier(tier))
        });
        self.erase(cases.collect())
    }

    fn promise_cases(&self, promises: &[(&'static str, opweave_contract::Promise)]) -> Vec<Box<dyn DynCase>> {
        let cases = promises.iter().filter_map(|(argument, promise)| {
            let mut facts = Vec::new();
            if promise.alignment != 0 {
                facts.push((format!("{argument}.align"), promise.alignment.to_string()));
            }
            if promise.constant {
                facts.push((format!("{argument}.constant"), "true".to_owned()));
            }
            if promise.contiguous {
                facts.push((format!("{argument}.contiguous"), "true".to_owned()));
            }
            let problem = self.varied(&facts)?;
            let index = S::Op::signature().tensor(argument)?;
            let specs = S::Op::describe(&problem);
            // Aligned to what is promised and to nothing more.
            let shift = promise.alignment.checked_div(specs.tensor(index)?.dtype.bits() / 8).unwrap_or(0);
            let label = format!("promise_{argument}_align{}", promise.alignment);
            Some(Case::new(label, problem, &Self::dims(3)).lie_of(argument, 0, shift))
        });
        self.erase(cases.collect())
    }
}

impl<S: Suite> DynCase for ErasedCase<S> {
    fn info(&self) -> CaseInfo {
        CaseInfo {
            operation: S::Op::NAME,
            label: self.case.label.clone(),
            tier: self.case.tier,
            grade: self.case.grade,
            parameters: self.case.parameters(),
            cost: self.case.cost(),
        }
    }

    fn problem(&self) -> DynProblem {
        DynProblem::new::<S::Op>(self.case.problem)
    }

    fn check(&self) -> Result<(), CaseDefect> {
        self.case.check()
    }

    fn fixture(&self, generator: &Generator) -> Result<Box<dyn PreparedSource>, CaseError> {
        Ok(Box::new(Arc::new(Fixture::build(&self.suite, &self.case, generator)?)))
    }
}
