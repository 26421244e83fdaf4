// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Requests: an operator, a problem, and for which sizes it is to be prepared.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use opweave_contract::{DynProblem, Operator};
use opweave_registry::{BucketError, Buckets};

use opweave_tensor::DeviceId;

use crate::bindings::Tables;
use crate::initialize::{PrepareCall, Prepares};

/// What a caller insists on besides the contract.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Demands {
    /// The same inputs give the same bits.
    pub deterministic: bool,
    /// A row's bits do not depend on the other rows of its batch.
    pub batch_invariant: bool,
}

/// A request for operator `O`.
#[derive(Debug)]
pub struct Request<O: Operator> {
    problem: O::Problem,
    buckets: Buckets,
    demands: Demands,
}

// By hand, since a derived one would ask the operator itself to be `Clone`.
impl<O: Operator> Clone for Request<O> {
    fn clone(&self) -> Self {
        Request { problem: self.problem, buckets: self.buckets.clone(), demands: self.demands }
    }
}

impl<O: Operator> Request<O> {
    /// A request for `problem`, in one bucket.
    pub fn new(problem: O::Problem) -> Self {
        Request { problem, buckets: Buckets::none(), demands: Demands::default() }
    }

    /// The same request with ranges of the dynamic dimension `dim` that end at `ends`, inclusive; a last open one follows.
    ///
    /// # Errors
    /// [`BucketError`].
    pub fn buckets(mut self, dim: &str, ends: &[usize]) -> Result<Self, BucketError> {
        self.buckets = Buckets::new(O::signature(), dim, ends)?;
        Ok(self)
    }

    /// The same request with demands.
    #[must_use]
    pub fn demands(mut self, demands: Demands) -> Self {
        self.demands = demands;
        self
    }

    /// The request without its type.
    pub fn erase(self) -> DynRequest {
        DynRequest {
            problem: DynProblem::new::<O>(self.problem),
            buckets: self.buckets,
            demands: self.demands,
            prepares: Arc::new(Typed::<O>(std::marker::PhantomData)),
        }
    }
}

/// A request without its type. Equal when operation, facts, buckets and demands are.
#[derive(Clone)]
pub struct DynRequest {
    pub(crate) problem: DynProblem,
    pub(crate) buckets: Buckets,
    pub(crate) demands: Demands,
    pub(crate) prepares: Arc<dyn Prepares>,
}

struct Typed<O>(std::marker::PhantomData<fn() -> O>);

impl<O: Operator> Prepares for Typed<O> {
    fn prepare(&self, call: &PrepareCall<'_>) -> Result<Arc<dyn Any + Send + Sync>, crate::InitializeError> {
        crate::initialize::prepare::<O>(call).map(|prepared| prepared as Arc<dyn Any + Send + Sync>)
    }
    fn publish(&self, tables: &Tables, device: DeviceId, prepared: &Arc<dyn Any + Send + Sync>) {
        if let Ok(prepared) = Arc::clone(prepared).downcast() {
            tables.insert::<O>(device, prepared);
        }
    }
    fn validate(&self, problem: &DynProblem) -> Result<(), opweave_contract::ProblemError> {
        problem.get::<O>().map_or(Ok(()), O::validate)
    }
}

impl DynRequest {
    /// The problem.
    pub fn problem(&self) -> &DynProblem {
        &self.problem
    }

    /// The buckets.
    pub fn buckets(&self) -> &Buckets {
        &self.buckets
    }

    /// The demands.
    pub fn demands(&self) -> Demands {
        self.demands
    }

    /// What it is compared by.
    pub(crate) fn identity(&self) -> (&'static str, String, &Buckets, Demands) {
        (self.problem.operation(), self.problem.facts().to_string(), &self.buckets, self.demands)
    }
}

impl<O: Operator> From<Request<O>> for DynRequest {
    fn from(request: Request<O>) -> Self {
        request.erase()
    }
}

impl PartialEq for DynRequest {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for DynRequest {}

impl fmt::Debug for DynRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request [{}] {:?} {:?}", self.problem, self.buckets, self.demands)
    }
}
