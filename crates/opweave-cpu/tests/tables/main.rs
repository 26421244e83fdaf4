// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Operators that look things up: embedding.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod embedding;
mod support;
