// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The trait that an operator is.

use std::fmt::Debug;
use std::hash::Hash;

use crate::{
    ArgSource, ArgSpecs, ArgVisitor, Bounds, ContractError, Cost, DynDims, FactVisitor, Facts, OpContract,
    ProblemError, ProblemText, Promises, Signature, promise,
};

/// An operator: one type that names the contract and the shape of a call. Implemented by [`operator!`](crate::operator).
pub trait Operator: 'static + Sized {
    /// The operation's name.
    const NAME: &'static str;

    /// One contract for each numerical mode.
    const CONTRACTS: &'static [&'static OpContract];

    /// What is fixed for the life of a model: dtypes, sizes, flags, mode, promises, bounds.
    type Problem: Copy + Eq + Hash + Debug + Send + Sync + 'static;

    /// Raw views and scalars of one call.
    type Args: Copy + Send + Sync + 'static;

    /// The shape of a call as data.
    fn signature() -> &'static Signature;

    /// The contract that the problem's numerical mode picks.
    fn contract(problem: &Self::Problem) -> &'static OpContract;

    /// The declared facts of a problem in order, without promises and bounds.
    fn facts(problem: &Self::Problem, visitor: &mut dyn FactVisitor);

    /// Reads a problem. Not yet validated.
    ///
    /// # Errors
    /// [`ProblemError`] for a fact that is unknown, missing or does not parse.
    fn parse(text: ProblemText<'_>) -> Result<Self::Problem, ProblemError>;

    /// The promises of a problem.
    fn promises(problem: &Self::Problem) -> &Promises;

    /// The bounds of a problem.
    fn bounds(problem: &Self::Problem) -> &Bounds;

    /// The same problem with other bounds: used where a request states them apart.
    #[must_use]
    fn with_bounds(problem: &Self::Problem, bounds: Bounds) -> Self::Problem;

    /// Name, role, dtype, shape, placement and strides of every argument.
    fn describe(problem: &Self::Problem) -> ArgSpecs;

    /// Validates a call against resolved specs, once, and reads the dynamic dimensions off its shapes.
    ///
    /// # Errors
    /// [`ContractError`] naming argument, clause, expected and actual.
    fn check(specs: &ArgSpecs, args: &Self::Args) -> Result<DynDims, ContractError>;

    /// The dynamic dimensions of a call that is known to be valid.
    fn dims(specs: &ArgSpecs, args: &Self::Args) -> DynDims;

    /// Builds arguments out of what `source` supplies.
    ///
    /// # Errors
    /// The error of `source`.
    fn assemble<S: ArgSource>(specs: &ArgSpecs, source: &mut S) -> Result<Self::Args, S::Error>;

    /// Shows every argument to `visitor`: the inverse of [`Operator::assemble`].
    fn visit(args: &Self::Args, visitor: &mut dyn ArgVisitor);

    /// Bytes and arithmetic that the contract cannot do without.
    fn cost(problem: &Self::Problem, dims: &DynDims) -> Cost;

    /// All facts, promises and bounds included: the identity of a problem in text.
    fn all_facts(problem: &Self::Problem) -> Facts {
        let mut facts = Facts::default();
        Self::facts(problem, &mut facts);
        promise::push_facts(&mut facts, Self::signature(), Self::promises(problem), Self::bounds(problem));
        facts
    }

    /// Checks that some call could satisfy the problem.
    ///
    /// # Errors
    /// [`ProblemError::Illegal`] naming the fact, promise or bound and its legal values.
    fn validate(problem: &Self::Problem) -> Result<(), ProblemError> {
        let mut facts = Facts::default();
        Self::facts(problem, &mut facts);
        crate::problem::validate_facts(Self::signature(), &facts)?;
        promise::validate(Self::signature(), Self::promises(problem), Self::bounds(problem))
    }

    /// Reads and validates a problem from `k=v` pairs.
    ///
    /// # Errors
    /// [`ProblemError`].
    fn problem_from<S: AsRef<str>>(pairs: &[S]) -> Result<Self::Problem, ProblemError> {
        let problem = Self::parse(ProblemText::new(Self::signature(), pairs)?)?;
        Self::validate(&problem)?;
        Ok(problem)
    }
}
