// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One file per command.

pub(crate) mod bench;
pub(crate) mod catalog;
pub(crate) mod compare;
pub(crate) mod devices;
pub(crate) mod explain;
mod ground;
pub(crate) mod license;
pub(crate) mod numerics;

#[cfg(test)]
mod schemas;
