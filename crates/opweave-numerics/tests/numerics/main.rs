// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Tests of the public interface, in one binary.

#![expect(clippy::unwrap_used, reason = "tests and their helpers: what cannot be set up is a failed test")]

mod faults;
mod harness;
mod ranks;
mod refusal;
mod run;
mod sabotage;
mod suites;
mod support;
