// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The benchmark suite.

pub mod workload;
