// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Kernels: what a solution registers.

use std::sync::Arc;

use opweave_contract::{Operator, ProblemError};
use opweave_device::{Communicator, DeviceError, DeviceKey};
use opweave_tensor::DeviceId;

use crate::{Bucket, KernelSpec, Plan, Reject};

/// What a kernel may look at when it makes a plan. The bounds of the dynamic dimensions are in the problem.
#[derive(Clone, Copy)]
pub struct PrepareContext<'a> {
    /// The device.
    pub device: DeviceId,
    /// What is known of it.
    pub key: &'a DeviceKey,
    /// The sizes for which the plan is made.
    pub bucket: Bucket,
    /// The caller's communicator, for collectives.
    pub communicator: Option<&'a dyn Communicator>,
}

/// A plan that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The problem needs workspace and does not bound a dimension that its size depends on.
    #[error("{operation}: workspace depends on {dims}, which the problem does not bound; state {dims}.max", dims = .dims.join(", "))]
    Bounds {
        /// The operation.
        operation: &'static str,
        /// The dimensions.
        dims: Vec<&'static str>,
    },
    /// The problem is not legal.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The device refused.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The row does not apply after all: its needs say too little.
    #[error("{kernel} does not apply: {reason}")]
    Refused {
        /// The row.
        kernel: String,
        /// Why.
        reason: Reject,
    },
    /// A collective without a communicator.
    #[error("{operation} is a collective and needs a communicator")]
    Communicator {
        /// The operation.
        operation: &'static str,
    },
}

/// One implementation of an operator.
pub trait Kernel<O: Operator>: Send + Sync {
    /// What it says of itself.
    fn spec(&self) -> &KernelSpec;

    /// Its rank for a problem on a device; the highest eligible one wins. Pure: equal arguments, equal rank.
    fn rank(&self, problem: &O::Problem, bucket: Bucket, key: &DeviceKey) -> i32 {
        let _ = (problem, bucket, key);
        self.spec().priority
    }

    /// What its needs cannot say as data. Pure.
    ///
    /// # Errors
    /// The [`Reject`] that says why the row does not apply.
    fn residual(&self, problem: &O::Problem, bucket: Bucket, key: &DeviceKey) -> Result<(), Reject> {
        let _ = (problem, bucket, key);
        Ok(())
    }

    /// Makes a plan: all loading, heuristics, workspace sizing and attribute setting, so that the first call may
    /// already be captured.
    ///
    /// # Errors
    /// [`PrepareError`].
    fn prepare(&self, problem: &O::Problem, context: &PrepareContext<'_>) -> Result<Arc<dyn Plan<O>>, PrepareError>;
}
