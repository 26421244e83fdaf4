// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rotary family: what its kernels are told, and which of them a call takes.

mod choice;
mod parameters;
mod shape;

pub(crate) use choice::{Kernels, Sizes};
pub(crate) use parameters::{Flags, RotaryParams};
