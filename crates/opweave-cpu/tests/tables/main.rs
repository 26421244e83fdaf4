// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Operators that look things up: rows of a table, angles of a position, slots and pages of a cache.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod attention;
mod embedding;
mod paged_cache;
mod rotary;
mod support;
