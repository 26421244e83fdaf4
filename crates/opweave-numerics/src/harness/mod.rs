// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! From a case to a judgement.
//!
//! A [`Fixture`] is what all implementations share: the inputs as host images, and what the reference makes of them. A
//! prepared case adds one implementation with device memory of its own. It runs the call on poisoned outputs, fetches every
//! image back, guard bands included, and judges in this order: structure, guard bands, inputs that may not change, values.

mod batch;
mod error;
mod exchange;
mod fill;
mod fixture;
mod graph;
mod instance;
mod judge;
mod memory;
mod prepare;
mod sample;

pub use error::CaseError;
pub use exchange::{Described, Exchange};
pub use fixture::Fixture;
pub use instance::{PrepareOn, PreparedCase, PreparedSource};
pub use judge::{Judgement, verdict};

/// What a validation does beyond one eager call.
#[derive(Clone, Copy)]
pub struct How<'a> {
    /// Whether calls go through a captured graph.
    pub graph: bool,
    /// Runs that must agree bit for bit where the implementation is deterministic; at least 1.
    pub repeat: u32,
    /// Whether rows are also run alone and in another order.
    pub batch_invariance: bool,
    /// Asked between calls: an error from it ends the case.
    pub watch: &'a dyn Fn() -> Result<(), CaseError>,
}
