// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The quantization family: what its kernels are told, and which of those with a given scale a call takes.

mod fixed;
mod parameters;

pub(crate) use fixed::FixedKernels;
pub(crate) use parameters::{CodeFlags, CodeParams, QuantParams};
