// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Views: what they hold, what they refuse, which bytes they touch, and the way to DLPack and back.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod dlpack;
mod extents;
mod names;
mod raw;
mod slices;
