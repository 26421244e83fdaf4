// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The lint from outside: inputs that broke other tools, wrong policies, a whole path map, formats, arbitrary bytes.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod cases;
mod expressions;
mod fix_cases;
mod formats;
mod fuzz;
mod lab;
mod path_map;
mod policy;
mod trees;
