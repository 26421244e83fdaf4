// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The operators, one module for each family and one file for each operator.

pub mod activation;
pub mod embedding;
pub mod kv_cache;
pub mod normalization;
pub mod quantization;
pub mod rotary;
pub mod sampling;
pub mod softmax;

use crate::OperationDecl;

/// Every operation of this workspace, family by family.
pub const FAMILIES: &[&[OperationDecl]] = &[
    normalization::OPERATIONS,
    embedding::OPERATIONS,
    rotary::OPERATIONS,
    quantization::OPERATIONS,
    sampling::OPERATIONS,
    kv_cache::OPERATIONS,
    activation::OPERATIONS,
    softmax::OPERATIONS,
];

/// Every operation of this workspace.
pub fn operations() -> impl Iterator<Item = &'static OperationDecl> {
    FAMILIES.iter().flat_map(|family| family.iter())
}
