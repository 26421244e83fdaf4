// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers: from the arguments of a call to a kernel body. One file for each operator.

/// The files of a family: one for each operator.
macro_rules! modules {
    ([] $family:ident: $($module:ident: $operator:ident),* $(,)?) => { $(mod $module;)* };
}

/// The rows of a family: those of each operator.
macro_rules! rows {
    ([$registry:ident] $family:ident: $($module:ident: $operator:ident),* $(,)?) => {
        $(rows::<opweave_contract::ops::$family::$operator>($registry)?;)*
    };
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

use opweave_reference::Reference;
use opweave_registry::{Registry, RegistryError};

use crate::native::{self, Native};
use crate::reference;

/// Registers every row of this crate.
pub(crate) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    opweave_contract::operators!(rows registry);
    Ok(())
}

/// The rows that every operator has.
fn rows<O: Native + Reference>(registry: &mut Registry) -> Result<(), RegistryError> {
    native::register::<O>(registry)?;
    reference::register::<O>(registry)
}
