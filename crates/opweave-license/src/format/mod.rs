// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Findings as text: for people, machines, review tools.

mod explain;
mod github;
mod human;
mod json;
mod sarif;

pub use explain::explain;
pub use github::github;
pub use human::human;
pub use json::{JsonReport, SCHEMA_VERSION, json};
pub use sarif::sarif;
