// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rules of the core, each a named test, over operators and rows that the tests declare.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../support/mod.rs"]
mod support;

mod binding_rules;
mod bucket_rules;
mod catalog_rules;
mod checked_call_rules;
mod explain_rules;
mod golden;
mod initialize_rules;
mod noop_chain;
mod override_rules;
mod profile_rules;
mod registry_rules;
mod selection_rules;
