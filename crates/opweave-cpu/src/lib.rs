// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! CPU kernels.

pub mod ceilings;
pub mod normalization;
mod rows;
pub mod simd;

pub use rows::Rows;
