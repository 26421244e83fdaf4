// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The activation family: what its kernels are told, and how a call is cut into blocks.

mod choice;
mod parameters;

pub(crate) use choice::Kernels;
pub(crate) use parameters::{ActivationParams, Halved};
