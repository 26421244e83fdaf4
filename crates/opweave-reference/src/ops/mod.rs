// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The references, one module for each family and one file for each operator.

/// The files of a family: one for each operator.
macro_rules! modules {
    ([] $family:ident: $($module:ident: $operator:ident),* $(,)?) => { $(pub mod $module;)* };
}

pub mod activation;
pub mod attention;
pub mod embedding;
pub mod kv_cache;
pub mod linear;
pub mod normalization;
pub mod quantization;
pub mod rotary;
pub mod sampling;
pub mod softmax;
