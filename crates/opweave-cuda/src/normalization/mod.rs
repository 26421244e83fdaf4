// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The normalization family: what its kernels are told.

mod parameters;

pub use parameters::NormParams;
pub(crate) use parameters::{Flags, NormQuantParams};
