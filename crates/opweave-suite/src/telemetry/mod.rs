// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What else happens on the device while a row is measured.
//!
//! A lock binds only those who take it. So a [`Probe`] looks at the device before a measurement and every half second during
//! it, and [`Limits`] say which of what it sees makes the measurement worthless. Nothing is decided by process ids alone: in a
//! container they may be hidden, and what shows then is work or memory that is not ours.

mod board;
mod clocks;
mod gpu;
mod host;
#[cfg(feature = "nvml")]
mod nvml;
#[cfg(test)]
mod tests;
mod visible;

pub use board::{Board, BoardProcess};
pub use clocks::{ClockState, Clocks};
pub use gpu::GpuProbe;
pub use host::{HostProbe, Proc};
#[cfg(feature = "nvml")]
pub use nvml::NvmlBoard;
pub use visible::{VisibleError, visible};

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Time from one look to the next.
pub const INTERVAL: Duration = Duration::from_millis(500);

/// One look at a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sighting {
    /// Work of others since the look before: processors of a host, or the share of a GPU. `None` where it cannot be told.
    pub foreign_work: Option<f64>,
    /// Bytes on the device that are neither ours nor were there before the run.
    pub foreign_bytes: Option<u64>,
    /// Others on the device, in words.
    pub foreign: Vec<String>,
    /// Share of time that a hypervisor took.
    pub steal: Option<f64>,
    /// Load average of one minute.
    pub load: Option<f64>,
    /// Clocks.
    pub clocks: Option<Clocks>,
    /// Watts.
    pub power_w: Option<f64>,
    /// Degrees Celsius.
    pub temperature_c: Option<f64>,
}

/// A device that cannot be looked at. Before a lease that means: not free.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("sample {device}: {reason}")]
pub struct ProbeError {
    /// The device.
    pub device: String,
    /// Why.
    pub reason: String,
}

/// Looks at one device.
pub trait Probe: Send {
    /// Looks, and compares with the look before. `own` are the processes that belong to the measurement.
    ///
    /// # Errors
    /// [`ProbeError`].
    fn look(&mut self, own: &Own) -> Result<Sighting, ProbeError>;
}

/// A device that nobody can look at: rows then say that their clocks are unknown. Not for one whose telemetry is there and
/// fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTelemetry;

impl Probe for NoTelemetry {
    fn look(&mut self, _: &Own) -> Result<Sighting, ProbeError> {
        Ok(Sighting::default())
    }
}

/// The processes of a measurement: this one, and the group of the row's process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// The group of the process that measures, if one runs.
    pub group: Option<u32>,
}

/// From which values on others disturb.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Work of others, in processors or shares of a GPU, averaged over one interval.
    pub work: f64,
    /// Bytes of others.
    pub bytes: u64,
    /// Share of time stolen.
    pub steal: f64,
}

impl Limits {
    /// Of a host: a third of a processor is more than daemons take, and less than any compilation. Memory of others harms
    /// nobody while they do not use it.
    pub const HOST: Limits = Limits { work: 0.33, bytes: u64::MAX, steal: 0.05 };
    /// Of a GPU: a display draws less than a twentieth; 256 MiB is more than an idle context.
    pub const GPU: Limits = Limits { work: 0.05, bytes: 256 << 20, steal: 1.0 };

    /// What disturbs, in words, or nothing.
    #[must_use]
    pub fn judge(&self, seen: &Sighting) -> Option<String> {
        let mut what = Vec::new();
        if let Some(work) = seen.foreign_work.filter(|work| work.is_nan() || *work > self.work) {
            what.push(format!("others worked at {:.0} %, {:.0} % is admitted", work * 100.0, self.work * 100.0));
        }
        if let Some(bytes) = seen.foreign_bytes.filter(|bytes| *bytes > self.bytes) {
            what.push(format!("{} MiB belong to others", bytes >> 20));
        }
        if let Some(steal) = seen.steal.filter(|steal| steal.is_nan() || *steal > self.steal) {
            what.push(format!(
                "{:.0} % of the time was stolen, {:.0} % is admitted",
                steal * 100.0,
                self.steal * 100.0
            ));
        }
        if what.is_empty() {
            return None;
        }
        if !seen.foreign.is_empty() {
            what.push(seen.foreign.join(", "));
        }
        Some(what.join("; "))
    }
}

/// What the looks at a device during one attempt amount to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// Looks.
    pub looks: u32,
    /// Looks that failed.
    pub failed: u32,
    /// Most work of others in one interval.
    pub foreign_work: Option<f64>,
    /// Most bytes of others.
    pub foreign_bytes: Option<u64>,
    /// Largest share of time stolen in one interval.
    pub steal: Option<f64>,
    /// Highest load average.
    pub load: Option<f64>,
    /// Highest power.
    pub power_w: Option<f64>,
    /// Highest temperature.
    pub temperature_c: Option<f64>,
    /// What the clocks did.
    pub clocks: ClockState,
    /// Looks at which the clocks were capped.
    pub capped: u32,
    /// Reasons that the device gave for it.
    pub throttled_by: Vec<String>,
}

impl Telemetry {
    /// Adds a look.
    pub fn add(&mut self, seen: &Sighting) {
        fn most<T: PartialOrd>(kept: &mut Option<T>, new: Option<T>) {
            if let Some(new) = new
                && kept.as_ref().is_none_or(|kept| new > *kept)
            {
                *kept = Some(new);
            }
        }
        self.looks += 1;
        most(&mut self.foreign_work, seen.foreign_work);
        most(&mut self.foreign_bytes, seen.foreign_bytes);
        most(&mut self.steal, seen.steal);
        most(&mut self.load, seen.load);
        most(&mut self.power_w, seen.power_w);
        most(&mut self.temperature_c, seen.temperature_c);
        let Some(clocks) = &seen.clocks else { return };
        let capped = clocks.capped();
        self.capped += u32::from(capped);
        self.clocks = if self.capped > 0 { ClockState::Capped } else { ClockState::Steady };
        for reason in clocks.reasons.iter().filter(|_| capped) {
            if !self.throttled_by.contains(reason) {
                self.throttled_by.push(reason.clone());
            }
        }
    }

    /// Marks that a row with this telemetry carries.
    #[must_use]
    pub fn marks(&self) -> Vec<String> {
        let mut marks = Vec::new();
        match self.clocks {
            ClockState::Steady => {}
            ClockState::Unknown => marks.push("clocks unknown".to_owned()),
            ClockState::Capped => marks.push(format!("clocks capped at {} of {} looks", self.capped, self.looks)),
        }
        if self.looks == 0 {
            marks.push("never looked at".to_owned());
        }
        if self.failed > 0 {
            marks.push(format!("{} looks failed", self.failed));
        }
        marks
    }

    /// Whether the clocks were capped all the time: times are then those of another device.
    #[must_use]
    pub fn always_capped(&self) -> bool {
        self.looks > 0 && self.capped == self.looks
    }
}

impl fmt::Display for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} looks", self.looks)?;
        if let Some(work) = self.foreign_work {
            write!(f, ", others at most {:.0} %", work * 100.0)?;
        }
        if let Some(steal) = self.steal {
            write!(f, ", {:.0} % stolen", steal * 100.0)?;
        }
        Ok(())
    }
}
