// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Looks at a GPU.

use super::{Board, Own, Probe, ProbeError, Proc, Sighting};

/// A GPU and what was on it before the run.
pub struct GpuProbe<B> {
    pub(super) board: B,
    proc: Proc,
    /// Bytes in use while no row's process was there: what a display or an idle context takes. They are no sign of work.
    pub(super) quiet_bytes: Option<u64>,
}

impl<B: Board> GpuProbe<B> {
    /// A probe that tells its own processes by `proc`.
    pub fn new(board: B, proc: Proc) -> Self {
        GpuProbe { board, proc, quiet_bytes: None }
    }
}

impl<B: Board> Probe for GpuProbe<B> {
    fn look(&mut self, own: &Own) -> Result<Sighting, ProbeError> {
        let device = self.board.uuid().to_owned();
        let failed = |reason: String| ProbeError { device: device.clone(), reason };
        // Without these nothing can be said about others, so their failure is one of the look.
        let processes = self.board.processes().map_err(failed)?;
        let used = self.board.used_bytes().map_err(failed)?;
        let utilisation = self.board.utilisation().map_err(failed)?;
        let group = own.group.map_or_else(Vec::new, |group| self.proc.group(group));
        let (ours, others): (Vec<_>, Vec<_>) = processes.iter().partition(|p| group.contains(&p.pid));
        let share = |of: &[&super::BoardProcess]| of.iter().filter_map(|p| p.utilisation).sum::<u32>();
        // While nothing of ours is there, all work is foreign, whoever can be seen doing it.
        let foreign = if own.group.is_none() { utilisation.max(share(&others)) } else { share(&others) };
        let bytes = |of: &[&super::BoardProcess]| of.iter().filter_map(|p| p.bytes).sum::<u64>();
        if own.group.is_none() {
            self.quiet_bytes = Some(used.saturating_sub(bytes(&others)));
        }
        // Processes that hide in another container show in what is used and nobody claims. That can only be said where the
        // memory of ours is known.
        let known = ours.iter().all(|p| p.bytes.is_some()) && (own.group.is_none() || !ours.is_empty());
        let claimed = bytes(&ours) + self.quiet_bytes.unwrap_or(0);
        let unclaimed = if known { used.saturating_sub(claimed + bytes(&others)) } else { 0 };
        let named = others.iter().map(|p| format!("process {} on the GPU", p.pid)).collect();
        Ok(Sighting {
            foreign_work: Some(f64::from(foreign) / 100.0),
            foreign_bytes: Some(bytes(&others) + unclaimed),
            foreign: named,
            steal: None,
            load: self.proc.load(),
            clocks: self.board.clocks().ok(),
            power_w: self.board.power_w().ok(),
            temperature_c: self.board.temperature_c().ok(),
        })
    }
}
