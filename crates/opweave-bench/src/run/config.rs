// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a benchmark is asked for, and what it stands on.

use std::path::PathBuf;

use opweave_device::{Activity, Device, DeviceKind, Instruments};
use opweave_numerics::{Config, Ground, Mode, RunError};
use thiserror::Error;

use crate::measurement::{Cache, Timer};
use crate::protocol::Protocol;
use crate::report::{CacheSizes, ReportError};

/// What `opweave bench` is asked for.
#[derive(Clone, Debug)]
pub struct BenchConfig {
    /// Cases, device, mode, implementation, inputs, output: the same selectors as those of a validation.
    pub selectors: Config,
    /// Counts, rounds and rests.
    pub protocol: Protocol,
    /// An implementation that takes turns with ours.
    pub baseline: Option<String>,
    /// Programs that measure other libraries in turns with ours: external adapters.
    pub references: Vec<PathBuf>,
    /// Where adapters keep what they compile: a folder for each.
    pub reference_cache: PathBuf,
    /// Cache states, each a series of its own.
    pub caches: Vec<Cache>,
    /// The timer; the mode's own unless asked for.
    pub timer: Option<Timer>,
    /// The device's rate of multiply-adds, 10^9 operations per second, where it was measured already.
    pub multiply_add_gflop_per_s: Option<f64>,
    /// The command line, for the report.
    pub command: Vec<String>,
}

/// What a benchmark stands on.
#[derive(Clone, Copy)]
pub struct BenchGround<'a> {
    /// Rows, suites, device and who may stop the run.
    pub numerics: Ground<'a>,
    /// The device's plain kernels; without them there are no ceilings.
    pub instruments: Option<&'a dyn Instruments>,
    /// Caches of the device.
    pub caches: &'a CacheSizes,
}

/// Why a benchmark does not begin, or cannot be recorded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BenchError {
    /// Names that nothing bears, inputs that cannot be read.
    #[error(transparent)]
    Selectors(#[from] RunError),
    /// A timer that the mode or the device does not have.
    #[error("time with `{timer}` in {mode} mode on {device}: {reason}")]
    Timer {
        /// The timer asked for.
        timer: Timer,
        /// The mode.
        mode: Mode,
        /// The device.
        device: String,
        /// What there is instead.
        reason: String,
    },
    /// An implementation that would be compared with itself.
    #[error("take `{implementation}` as the baseline of {case}: it is what the case runs on, a ratio needs two")]
    Baseline {
        /// The row.
        implementation: String,
        /// The first case where it is both.
        case: String,
    },
    /// An adapter that is not there.
    #[error("use {program} as a reference: {reason}")]
    Reference {
        /// The program.
        program: String,
        /// Why it cannot be one.
        reason: String,
    },
    /// What a distributed run does not have.
    #[error("use {what} in a distributed run: {reason}")]
    Distributed {
        /// What was asked for.
        what: String,
        /// Why it is not to be had.
        reason: String,
    },
    /// The device is not there.
    #[error("time on {device}: {reason}")]
    Device {
        /// The device asked for.
        device: String,
        /// Why it is not there.
        reason: String,
    },
    /// The report cannot be written.
    #[error(transparent)]
    Report(#[from] ReportError),
}

impl BenchError {
    /// The exit code that a process should end with: 2 for a request that cannot be met as it was written, 1 otherwise.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Selectors(error) => error.exit_code(),
            Self::Timer { .. } | Self::Baseline { .. } | Self::Reference { .. } | Self::Distributed { .. } => 2,
            Self::Device { .. } | Self::Report(_) => 1,
        }
    }
}

/// The timer that was asked for, or the mode's own. None falls back to another.
pub(super) fn timer(config: &BenchConfig, kind: DeviceKind) -> Result<Timer, BenchError> {
    let mode = config.selectors.mode;
    let own = match mode {
        Mode::Eager if kind == DeviceKind::Cpu => Timer::Wall,
        // What the kernels take: an event's interval holds the host's way to the device as well.
        Mode::Eager if kind == DeviceKind::Cuda => Timer::Kernel,
        Mode::Eager => Timer::Event,
        Mode::Graph => Timer::Graph,
    };
    let Some(timer) = config.timer else { return Ok(own) };
    let reason = match (mode, timer) {
        (Mode::Eager, Timer::Wall | Timer::Event | Timer::Kernel) => return Ok(timer),
        (Mode::Graph, Timer::Graph | Timer::GraphKernel) => return Ok(timer),
        (_, Timer::Distributed) => "it needs the ranks of a run with --distributed".to_owned(),
        (Mode::Eager, _) => "a single call is timed by `wall`, `event` or `kernel`".to_owned(),
        (Mode::Graph, _) => "a replay is timed by `graph` or `graph_kernel`".to_owned(),
    };
    Err(refused(config, timer, reason))
}

/// The device's records of its kernels, if the timer reads them. There is no other way to get its times.
pub(super) fn activity(
    config: &BenchConfig,
    timer: Timer,
    device: &dyn Device,
) -> Result<Option<Box<dyn Activity>>, BenchError> {
    let instead = match timer {
        Timer::Kernel => "`event` is the interval around the call",
        Timer::GraphKernel => "`graph` is the interval of a replay",
        _ => return Ok(None),
    };
    device.activity().map(Some).map_err(|error| refused(config, timer, format!("{error}; {instead}")))
}

fn refused(config: &BenchConfig, timer: Timer, reason: String) -> BenchError {
    BenchError::Timer { timer, mode: config.selectors.mode, device: config.selectors.device.clone(), reason }
}
