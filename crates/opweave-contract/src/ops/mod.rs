// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The operators, one module for each family and one file for each operator.

/// What a family's list makes of it: its modules, what they export, and their declarations.
macro_rules! family {
    ([] $family:ident: $($module:ident: $operator:ident),* $(,)?) => {
        $(
            mod $module;
            pub use $module::*;
        )*

        /// The operations of this family and the rows that exist for them.
        pub const OPERATIONS: &[crate::OperationDecl] = &[$($module::DECLARATION),*];
    };
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

use crate::OperationDecl;

/// Every operation of this workspace, family by family.
pub const FAMILIES: &[&[OperationDecl]] = &[
    normalization::OPERATIONS,
    embedding::OPERATIONS,
    rotary::OPERATIONS,
    quantization::OPERATIONS,
    sampling::OPERATIONS,
    kv_cache::OPERATIONS,
    attention::OPERATIONS,
    activation::OPERATIONS,
    softmax::OPERATIONS,
    linear::OPERATIONS,
];

/// Every operation of this workspace.
pub fn operations() -> impl Iterator<Item = &'static OperationDecl> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// Invokes `$then!` for each family, in the order of [`FAMILIES`], with the types of its operators: what is to be done with
/// every operator, by its type, is written once as a macro and needs no list. Further tokens go along in brackets.
///
/// ```
/// use opweave_contract::Operator;
///
/// macro_rules! names {
///     ([$into:ident] $family:ident: $($module:ident: $operator:ident),* $(,)?) => {
///         $($into.push(<opweave_contract::ops::$family::$operator as Operator>::NAME);)*
///     };
/// }
///
/// let mut found = Vec::new();
/// opweave_contract::operators!(names found);
/// assert!(found.iter().copied().eq(opweave_contract::ops::operations().map(|declared| declared.operation)));
/// ```
#[macro_export]
macro_rules! operators {
    ($then:ident $($with:tt)*) => {
        $crate::normalization_operators!($then $($with)*);
        $crate::embedding_operators!($then $($with)*);
        $crate::rotary_operators!($then $($with)*);
        $crate::quantization_operators!($then $($with)*);
        $crate::sampling_operators!($then $($with)*);
        $crate::kv_cache_operators!($then $($with)*);
        $crate::attention_operators!($then $($with)*);
        $crate::activation_operators!($then $($with)*);
        $crate::softmax_operators!($then $($with)*);
        $crate::linear_operators!($then $($with)*);
    };
}
