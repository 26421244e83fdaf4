// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The real binary: exit codes, texts, files.

mod catalog;
mod compare;
mod devices;
mod run;
