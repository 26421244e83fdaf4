// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rows against the double of CANN's libraries (`tests/npu-double`): built with the host's C++ compiler, loaded by the real
//! loader, each time in a process of its own, which this test starts with itself.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod devices;
mod failures;
mod faults;
mod ones;
mod operators;
mod script;
mod selection;
#[path = "../../../../tests/npu-double/stage.rs"]
mod shared;
mod stage;
mod suites;
#[path = "../../../../tests/npu-double/suites.rs"]
mod validation;
