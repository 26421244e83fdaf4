// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Devices without hardware: keys, images, faults, streams, buffers, the noop device, what the platform says.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod faults;
mod keys;
mod lifetimes;
mod noop;
mod platform;
mod streams;
mod targets;
