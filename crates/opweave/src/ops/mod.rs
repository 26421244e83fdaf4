// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The operators as functions on borrowed slices, one file each.
//!
//! The first argument of each function is a [`Handle`](crate::Handle): a prepared operator, or a problem that
//! [`initialize`](crate::initialize) prepared for this process. Engines with device pointers call
//! [`Prepared::enqueue`](crate::Prepared::enqueue) instead.

/// The files of a family, one for each operator, and what they export.
macro_rules! functions {
    ([] $family:ident: $($module:ident: $operator:ident),* $(,)?) => { $(
        mod $module;
        pub use $module::*;
    )* };
}

mod activation;
mod attention;
mod embedding;
mod kv_cache;
mod linear;
mod normalization;
mod quantization;
mod rotary;
mod sampling;
mod softmax;

pub use activation::*;
pub use attention::*;
pub use embedding::*;
pub use kv_cache::*;
pub use linear::*;
pub use normalization::*;
pub use quantization::*;
pub use rotary::*;
pub use sampling::*;
pub use softmax::*;
