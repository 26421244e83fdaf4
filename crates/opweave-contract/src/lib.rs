// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What an inference operator means.
//!
//! An [`Operator`] names a contract and the shape of a call. Its declaration (see [`operator!`]) is data: facts of the
//! problem with their legal sets, tensors with role, dtype and shape expression, scalars with ranges. From it come the
//! argument struct, validation, the harness's allocation, the command line's `k=v` text and the table of the contract
//! page.
//!
//! One operation has as many [`OpContract`]s as numerical modes: rounding orders differ between engines, and each order is
//! a field of the problem. See [`ops`] for the operators themselves.

mod check;
mod cost;
mod declaration;
mod derive;
mod dims;
mod error;
mod fact;
mod legal;
mod macros;
mod mode;
mod operator;
pub mod ops;
mod overlap;
mod problem;
mod promise;
mod signature;
mod slot;
mod specs;

pub use check::Checker;
pub use cost::Cost;
pub use declaration::{DynOperator, DynProblem, Erased, ImplementationDecl, LibraryDecl, OperationDecl};
#[doc(hidden)]
pub use derive::{Counter, fetch, read_dims};
pub use dims::{DimExpr, DynDims, MAX_DYNAMIC};
pub use error::{Clause, ContractError, ProblemError};
pub use fact::{FactType, FactValue, FactVisitor, Facts};
pub use legal::{Legal, Relation};
pub use mode::{MultiplyIn, NumericalMode, OpContract, RoundTo, Rounding, Saturation};
pub use operator::Operator;
pub use overlap::may_share;
pub use problem::{ProblemText, nearest, validate_facts};
pub use promise::{Bounds, MAX_TENSORS, Promise, Promises};
pub use signature::{DimParam, DynParam, FactParam, Placement, Role, ScalarParam, ScalarRange, Signature, TensorParam};
#[doc(hidden)]
pub use slot::{DTypeExpr, ScalarArg, TensorSlot};
pub use specs::{ArgSource, ArgSpecs, ArgVisitor, DimSpec, OutputSpec, TensorSpec};

/// The tensor crate, whose types stand in this crate's signatures.
pub use opweave_tensor as tensor;
#[doc(hidden)]
pub use opweave_tensor::RawTensor;
