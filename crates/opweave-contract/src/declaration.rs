// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Declarations: what exists, as data that needs no SDK, and operators without their types.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::{ArgSpecs, Cost, DynDims, Facts, OpContract, Operator, ProblemError, Promises, Signature};

/// A library that an implementation needs at run time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LibraryDecl {
    /// Its name, such as `cublasLt`.
    pub name: &'static str,
    /// The oldest version that will do.
    pub minimum: &'static str,
}

impl LibraryDecl {
    /// CANN, the vendor's libraries for Ascend NPUs.
    pub const CANN: LibraryDecl = LibraryDecl { name: "CANN", minimum: "8.0" };
}

/// One row as declared: known even where its feature is off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImplementationDecl {
    /// The row's name, such as `cpu.native.rms_norm.avx2`.
    pub name: &'static str,
    /// The solution that registers it, such as `cpu.native`.
    pub solution: &'static str,
    /// The libraries that it needs.
    pub libraries: &'static [LibraryDecl],
}

/// An operation, its contracts and the rows that exist for it.
#[derive(Clone, Copy)]
pub struct OperationDecl {
    /// The operation.
    pub operation: &'static str,
    /// The operator without its type.
    pub operator: &'static dyn DynOperator,
    /// One contract for each numerical mode.
    pub contracts: &'static [&'static OpContract],
    /// The rows, in any order.
    pub implementations: &'static [ImplementationDecl],
}

impl OperationDecl {
    /// The declaration of operator `O` with these rows.
    pub const fn new<O: Operator>(
        operator: &'static Erased<O>,
        implementations: &'static [ImplementationDecl],
    ) -> OperationDecl {
        OperationDecl { operation: O::NAME, operator, contracts: O::CONTRACTS, implementations }
    }
}

impl fmt::Debug for OperationDecl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperationDecl")
            .field("operation", &self.operation)
            .field("implementations", &self.implementations)
            .finish_non_exhaustive()
    }
}

/// An operator without its type: what is asked by name.
pub trait DynOperator: Send + Sync {
    /// The operation.
    fn name(&self) -> &'static str;
    /// The signature.
    fn signature(&self) -> &'static Signature;
    /// The contracts.
    fn contracts(&self) -> &'static [&'static OpContract];
    /// Reads and validates a problem from `k=v` pairs.
    ///
    /// # Errors
    /// [`ProblemError`].
    fn problem(&self, pairs: &[String]) -> Result<DynProblem, ProblemError>;
    /// The identity of the operator's type.
    fn type_id(&self) -> std::any::TypeId;
}

/// The one value of [`DynOperator`] for an operator type.
pub struct Erased<O>(PhantomData<fn() -> O>);

impl<O> Erased<O> {
    /// The value.
    pub const NEW: Erased<O> = Erased(PhantomData);
}

impl<O: Operator> DynOperator for Erased<O> {
    fn name(&self) -> &'static str {
        O::NAME
    }
    fn signature(&self) -> &'static Signature {
        O::signature()
    }
    fn contracts(&self) -> &'static [&'static OpContract] {
        O::CONTRACTS
    }
    fn problem(&self, pairs: &[String]) -> Result<DynProblem, ProblemError> {
        O::problem_from(pairs).map(DynProblem::new::<O>)
    }
    fn type_id(&self) -> std::any::TypeId {
        std::any::TypeId::of::<O>()
    }
}

/// A problem without its type. Equal when operation and all facts are.
#[derive(Clone)]
pub struct DynProblem {
    operation: &'static str,
    facts: Facts,
    contract: &'static OpContract,
    promises: Promises,
    value: Arc<dyn Any + Send + Sync>,
    describe: fn(&(dyn Any + Send + Sync)) -> Option<ArgSpecs>,
    cost: fn(&(dyn Any + Send + Sync), &DynDims) -> Cost,
}

impl DynProblem {
    /// Erases a problem.
    pub fn new<O: Operator>(problem: O::Problem) -> Self {
        DynProblem {
            operation: O::NAME,
            facts: O::all_facts(&problem),
            contract: O::contract(&problem),
            promises: *O::promises(&problem),
            value: Arc::new(problem),
            describe: |value| value.downcast_ref::<O::Problem>().map(O::describe),
            cost: |value, dims| value.downcast_ref::<O::Problem>().map(|p| O::cost(p, dims)).unwrap_or_default(),
        }
    }

    /// The operation.
    pub fn operation(&self) -> &'static str {
        self.operation
    }

    /// All facts.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The contract of its numerical mode.
    pub fn contract(&self) -> &'static OpContract {
        self.contract
    }

    /// The promises of the problem.
    pub fn promises(&self) -> Promises {
        self.promises
    }

    /// The typed problem, if it is one of `O`.
    pub fn get<O: Operator>(&self) -> Option<&O::Problem> {
        if self.operation == O::NAME { self.value.downcast_ref() } else { None }
    }

    /// The typed problem behind `Any`.
    pub fn as_any(&self) -> &(dyn Any + Send + Sync) {
        &*self.value
    }

    /// The arguments of the problem.
    pub fn describe(&self) -> Option<ArgSpecs> {
        (self.describe)(&*self.value)
    }

    /// What a call costs at least.
    pub fn cost(&self, dims: &DynDims) -> Cost {
        (self.cost)(&*self.value, dims)
    }
}

impl PartialEq for DynProblem {
    fn eq(&self, other: &Self) -> bool {
        self.operation == other.operation && self.facts == other.facts
    }
}

impl Eq for DynProblem {}

impl std::hash::Hash for DynProblem {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.operation.hash(state);
        self.facts.hash(state);
    }
}

impl fmt::Debug for DynProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.operation, self.facts)
    }
}

impl fmt::Display for DynProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.operation, self.facts)
    }
}
