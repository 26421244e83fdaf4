// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The softmax family: what its kernels are told, and who shares a row.

mod choice;
mod parameters;

pub(crate) use choice::Kernels;
pub(crate) use parameters::SoftmaxParams;
