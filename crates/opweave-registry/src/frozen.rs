// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The frozen registry: immutable, shareable, what selection reads.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::Arc;

use opweave_contract::{DynProblem, ImplementationDecl, OperationDecl, Operator};
use opweave_device::DeviceKey;

use crate::{Bucket, Kernel, KernelSpec, Reject};

/// A kernel without its operator's type.
pub trait ErasedKernel: Send + Sync {
    /// As [`Kernel::rank`]; the spec's priority for a problem of another operator.
    fn rank(&self, problem: &DynProblem, bucket: Bucket, key: &DeviceKey) -> i32;
    /// As [`Kernel::residual`].
    ///
    /// # Errors
    /// The [`Reject`] of the kernel.
    fn residual(&self, problem: &DynProblem, bucket: Bucket, key: &DeviceKey) -> Result<(), Reject>;
    /// The typed kernel as `Any`.
    fn as_any(&self) -> &dyn Any;
}

pub(crate) struct Typed<O: Operator>(pub(crate) Arc<dyn Kernel<O>>);

impl<O: Operator> ErasedKernel for Typed<O> {
    fn rank(&self, problem: &DynProblem, bucket: Bucket, key: &DeviceKey) -> i32 {
        problem.get::<O>().map_or(self.0.spec().priority, |p| self.0.rank(p, bucket, key))
    }
    fn residual(&self, problem: &DynProblem, bucket: Bucket, key: &DeviceKey) -> Result<(), Reject> {
        problem.get::<O>().map_or(Ok(()), |p| self.0.residual(p, bucket, key))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// One row: a spec, and the kernel or why there is none.
#[derive(Clone)]
pub struct Row {
    pub(crate) spec: KernelSpec,
    pub(crate) operation: &'static str,
    pub(crate) origin: &'static Location<'static>,
    pub(crate) kernel: Result<Arc<dyn ErasedKernel>, Reject>,
}

impl Row {
    /// What it says of itself.
    pub fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    /// Its operation.
    pub fn operation(&self) -> &'static str {
        self.operation
    }

    /// Where it was registered.
    pub fn origin(&self) -> &'static Location<'static> {
        self.origin
    }

    /// Why it is unavailable; `None` when it is available.
    pub fn unavailable(&self) -> Option<&Reject> {
        self.kernel.as_ref().err()
    }

    /// The kernel without its type.
    ///
    /// # Errors
    /// Why it is unavailable.
    pub fn erased(&self) -> Result<&dyn ErasedKernel, &Reject> {
        self.kernel.as_deref()
    }

    /// The kernel, if it is available and one of `O`.
    pub fn kernel<O: Operator>(&self) -> Option<Arc<dyn Kernel<O>>> {
        let typed = self.kernel.as_ref().ok()?.as_any().downcast_ref::<Typed<O>>()?;
        Some(Arc::clone(&typed.0))
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "row {} of {} from {}", self.spec.name, self.operation, self.origin)
    }
}

/// The registry after freezing.
#[derive(Debug)]
pub struct FrozenRegistry {
    pub(crate) operations: BTreeMap<&'static str, OperationDecl>,
    pub(crate) declared: BTreeMap<&'static str, (&'static str, ImplementationDecl)>,
    pub(crate) rows: BTreeMap<String, Row>,
    pub(crate) solutions: Vec<String>,
    pub(crate) generation: u64,
}

impl FrozenRegistry {
    /// How many registrations succeeded before freezing.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// All operations, in byte order of their names.
    pub fn operations(&self) -> impl Iterator<Item = &OperationDecl> {
        self.operations.values()
    }

    /// One operation.
    pub fn operation(&self, name: &str) -> Option<&OperationDecl> {
        self.operations.get(name)
    }

    /// All rows, in ascending byte order of their names.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.values()
    }

    /// The rows of an operation, in ascending byte order of their names.
    pub fn rows_of<'a, 'n>(&'a self, operation: &'n str) -> impl Iterator<Item = &'a Row> + use<'a, 'n> {
        self.rows.values().filter(move |row| row.operation == operation)
    }

    /// One row.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.get(name)
    }
}
