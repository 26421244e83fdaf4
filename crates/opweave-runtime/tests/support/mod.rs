// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the tests of rules share: operators, kernels, a runtime on the noop device, memory for calls.

#![expect(unreachable_pub, reason = "shared by several test binaries")]

pub mod call;
pub mod kernel;
pub mod operators;
pub mod world;
