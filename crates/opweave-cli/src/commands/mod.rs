// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One file per command.

pub(crate) mod bench;
pub(crate) mod catalog;
pub(crate) mod compare;
pub(crate) mod devices;
pub(crate) mod explain;
mod ground;
pub(crate) mod history;
pub(crate) mod license;
pub(crate) mod numerics;
pub(crate) mod promote;
mod ranks;
pub(crate) mod report;
pub(crate) mod suite;
mod suite_device;
mod suite_files;

#[cfg(test)]
mod schemas;
