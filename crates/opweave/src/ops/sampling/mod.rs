// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The sampling family.

mod argmax;

pub use argmax::argmax;

pub use opweave_contract::ops::sampling::{Argmax, ArgmaxArgs, ArgmaxProblem, NanOrder};
