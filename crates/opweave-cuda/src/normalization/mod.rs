// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The normalization family: what its kernels are told, and which of them a call takes.

mod choice;
mod parameters;

pub(crate) use choice::Kernels;
pub(crate) use parameters::Flags;
pub use parameters::NormParams;
