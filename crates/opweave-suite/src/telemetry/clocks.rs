// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Clocks, and whether somebody holds them down.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Clocks at one look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clocks {
    /// Now.
    pub mhz: f64,
    /// The highest that the device admits.
    pub max_mhz: f64,
    /// Why the device holds them down, in its own words; an idle device's slow clock is no reason.
    pub reasons: Vec<String>,
}

/// Below this share of the highest clock a working device is held down, whatever reason it gives.
const CAPPED: f64 = 0.85;

impl Clocks {
    /// Whether something holds the clocks down.
    #[must_use]
    pub fn capped(&self) -> bool {
        !self.reasons.is_empty() || self.mhz.is_nan() || self.mhz < CAPPED * self.max_mhz
    }
}

/// What the clocks did during a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClockState {
    /// Nobody can tell.
    #[default]
    Unknown,
    /// They ran free.
    Steady,
    /// They were held down at some look.
    Capped,
}
