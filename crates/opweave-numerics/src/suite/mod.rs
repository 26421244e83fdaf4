// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Suites: what is tried on an operator.
//!
//! A [`Suite`] names an operator and lists [`Case`]s. A case is a problem, the dimensions and scalars of one call, what its
//! inputs are made of and how they lie in memory; it holds no memory and asks for no device, so `--help` and listings work
//! anywhere. The harness allocates, fills, computes the reference and compares; no suite does any of that.

mod arguments;
mod case;
mod erased;
mod fill;
mod glob;
mod matrix;
mod set;

pub use arguments::{ArgumentError, ArgumentKind, SHARED_ARGUMENTS, SuiteArgument, SuiteArguments};
pub use case::{Case, CaseDefect};
pub use erased::{CaseInfo, DynCase, DynSuite};
pub use fill::{Fill, Lie, ValueAt};
pub use glob::Glob;
pub use matrix::{Axis, tensor_suite};
pub use set::{CatalogDefect, SuiteSet};

use opweave_reference::{Arguments, Reference};
use opweave_tensor::DType;

use crate::compare::{Computation, Tolerance};

/// The cases of one operator and what they are held to.
pub trait Suite: Send + Sync + 'static {
    /// The operator.
    type Op: Reference;

    /// Command-line arguments of this suite, beyond the shared ones.
    fn arguments(&self) -> &'static [SuiteArgument] {
        &[]
    }

    /// The cases that validation runs, each label once.
    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<Self::Op>>;

    /// The cases that a benchmark times.
    fn bench_cases(&self, arguments: &SuiteArguments) -> Vec<Case<Self::Op>> {
        self.cases(arguments)
    }

    /// The facts of a small, ordinary problem, as `k=v`: the harness varies one of them at a time, to both sides of every
    /// boundary that an implementation declares, and from each legal value of a flag to the next.
    fn base(&self) -> Vec<String>;

    /// What an argument is made of where a case does not say.
    fn fill(&self, argument: &str) -> Fill {
        let _ = argument;
        Fill::STANDARD
    }

    /// How many numbers go into the longest sum of one output element.
    fn accumulation_length(&self, case: &Case<Self::Op>) -> usize;

    /// What output `name` of dtype `dtype` is held to. `inputs` are the arguments before the call: a suite whose error
    /// depends on them may look.
    fn tolerance(&self, case: &Case<Self::Op>, name: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        let _ = (name, inputs);
        table_tolerance::<Self::Op>(case, dtype, self.accumulation_length(case))
    }

    /// A table and the argument whose elements name the rows of it that are read, where there is one: of a case that is timed the
    /// reference is given no others.
    fn looked_up(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// What the indices in output `name` were selected by, where its tolerance is [`Computation::Selected`]: the score of
    /// every candidate, row by row. `inputs` are the arguments before the call.
    fn scores(&self, case: &Case<Self::Op>, name: &str, inputs: &Arguments) -> Option<Vec<f64>> {
        let _ = (case, name, inputs);
        None
    }
}

/// The tolerance of the table for the numerical mode of the case's problem: its accumulation dtype, and one rounding more
/// than the mode puts between.
pub fn table_tolerance<O: Reference>(case: &Case<O>, dtype: DType, length: usize) -> Tolerance {
    let mode = &O::contract(&case.problem).numerical_mode;
    let roundings = 1 + mode.roundings.len() as u32;
    Tolerance::of(Computation::Rounded { roundings, accumulation: mode.accumulation, length }, dtype)
}
