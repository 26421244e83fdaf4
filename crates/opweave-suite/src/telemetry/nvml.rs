// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Readings by NVIDIA's management library, which is found at run time.

use std::sync::Arc;

use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::error::NvmlError;

use super::{Board, BoardProcess, Clocks};

/// A GPU by its UUID.
pub struct NvmlBoard {
    nvml: Arc<Nvml>,
    uuid: String,
    /// Time stamp of the last sample of processes, so that each is counted once.
    since: Option<u64>,
}

impl NvmlBoard {
    /// Finds a GPU.
    ///
    /// # Errors
    /// In words: the library is missing, the driver is not there, or no GPU has the UUID. That is an ordinary answer: a run
    /// without telemetry says that its clocks are unknown.
    pub fn open(uuid: &str) -> Result<Self, String> {
        let nvml = Arc::new(Nvml::init().map_err(|e| format!("no NVML: {e}"))?);
        nvml.device_by_uuid(uuid).map_err(|e| format!("no GPU {uuid} in NVML: {e}"))?;
        Ok(NvmlBoard { nvml, uuid: uuid.to_owned(), since: None })
    }

    fn device(&self) -> Result<nvml_wrapper::Device<'_>, String> {
        self.nvml.device_by_uuid(self.uuid.as_str()).map_err(|e| e.to_string())
    }
}

impl Board for NvmlBoard {
    fn uuid(&self) -> &str {
        &self.uuid
    }

    fn processes(&mut self) -> Result<Vec<BoardProcess>, String> {
        let text = |e: NvmlError| e.to_string();
        let device = self.device()?;
        let mut all: Vec<BoardProcess> = Vec::new();
        let computing = device.running_compute_processes().map_err(text)?;
        // A GPU without a display refuses the second question.
        let drawing = device.running_graphics_processes().unwrap_or_default();
        for process in computing.into_iter().chain(drawing) {
            let bytes = match process.used_gpu_memory {
                UsedGpuMemory::Used(bytes) => Some(bytes),
                UsedGpuMemory::Unavailable => None,
            };
            if all.iter().all(|known| known.pid != process.pid) {
                all.push(BoardProcess { pid: process.pid, bytes, utilisation: None });
            }
        }
        // No sample since the last one is no failure.
        let samples = device.process_utilization_stats(self.since).unwrap_or_default();
        let latest = samples.iter().map(|sample| sample.timestamp).max();
        for sample in samples {
            match all.iter_mut().find(|known| known.pid == sample.pid) {
                Some(known) => known.utilisation = known.utilisation.max(Some(sample.sm_util)),
                None => all.push(BoardProcess { pid: sample.pid, bytes: None, utilisation: Some(sample.sm_util) }),
            }
        }
        self.since = latest.or(self.since);
        Ok(all)
    }

    fn used_bytes(&mut self) -> Result<u64, String> {
        Ok(self.device()?.memory_info().map_err(|e| e.to_string())?.used)
    }

    fn utilisation(&mut self) -> Result<u32, String> {
        Ok(self.device()?.utilization_rates().map_err(|e| e.to_string())?.gpu)
    }

    fn clocks(&mut self) -> Result<Clocks, String> {
        let device = self.device()?;
        let text = |e: NvmlError| e.to_string();
        let now = device.clock_info(Clock::SM).map_err(text)?;
        let max = device.max_clock_info(Clock::SM).map_err(text)?;
        let held = device.current_throttle_reasons().map_err(text)? - ThrottleReasons::GPU_IDLE;
        let reasons = held.iter_names().map(|(name, _)| name.to_lowercase()).collect();
        // An idle GPU clocks down by itself: that is no cap.
        let idle = device.utilization_rates().map_err(text)?.gpu == 0;
        Ok(Clocks { mhz: f64::from(if idle { max } else { now }), max_mhz: f64::from(max), reasons })
    }

    fn power_w(&mut self) -> Result<f64, String> {
        Ok(f64::from(self.device()?.power_usage().map_err(|e| e.to_string())?) / 1000.0)
    }

    fn temperature_c(&mut self) -> Result<f64, String> {
        Ok(f64::from(self.device()?.temperature(TemperatureSensor::Gpu).map_err(|e| e.to_string())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_an_answer() {
        // On a machine with the library, a UUID that no GPU has is one as well.
        let reason = NvmlBoard::open("GPU-00000000-0000-0000-0000-000000000000").err().unwrap();
        assert!(reason.starts_with("no NVML: ") || reason.starts_with("no GPU "), "{reason}");
    }
}
