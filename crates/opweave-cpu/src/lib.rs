// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The CPU solution: kernels, and the rows that they are registered as.
//!
//! [`register`] adds four rows for each operator: `cpu.native.<op>.avx512`, `.avx2` and `.portable`, and the floor,
//! `cpu.reference.<op>`. Kernels run on the threads that the caller's stream lends them; results do not depend on how
//! many there are.

pub mod activation;
pub mod attention;
mod bytes;
pub mod ceilings;
pub mod embedding;
mod faults;
pub mod indices;
pub mod kv_cache;
pub mod linear;
mod memory;
mod native;
pub mod normalization;
mod ops;
pub mod quantization;
mod reference;
pub mod rotary;
mod rows;
pub mod sampling;
pub mod simd;
pub mod softmax;

pub use rows::Rows;

use opweave_registry::{Registry, RegistryError};

/// Registers every row of this crate.
///
/// # Errors
/// [`RegistryError`] when the operations are not declared or a name is taken.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    ops::register(registry)
}
