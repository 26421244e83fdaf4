// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The real binary: exit codes, texts, files.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod catalog;
mod compare;
mod devices;
mod explain;
mod launchers;
mod license;
mod measure;
mod ranks;
mod run;
mod suite;
mod whole;
