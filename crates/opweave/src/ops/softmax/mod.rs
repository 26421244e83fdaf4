// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The softmax family.

mod log_softmax;
#[expect(clippy::module_inception, reason = "the operator that gives the family its name")]
mod softmax;

pub use log_softmax::log_softmax;
pub use opweave_contract::ops::softmax::{LogSoftmax, LogSoftmaxArgs, LogSoftmaxProblem};
pub use softmax::softmax;

pub use opweave_contract::ops::softmax::{Softmax, SoftmaxArgs, SoftmaxProblem};
