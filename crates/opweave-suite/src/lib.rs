// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The benchmark suite: curated workloads, timed against references on devices that are held exclusively, compared with a
//! committed baseline.
//!
//! It prepares and times nothing itself. [`workload`] says what is measured, [`mod@lease`] keeps others off the device,
//! [`telemetry`] sees those who come nevertheless, [`runner`] gives each row a process of its own, [`record`] keeps what it
//! reports, [`baseline`] is what later runs are held to, [`history`] how a row moved, and
//! [`page`] shows all of it.

pub mod baseline;
pub mod history;
pub mod identity;
pub mod lease;
pub mod page;
pub mod record;
pub mod runner;
pub mod telemetry;
pub mod workload;
