// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a GPU's management library tells, behind a trait: the logic above it is tried without a GPU.

use super::Clocks;

/// A process on a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardProcess {
    /// Its id, which in a container may belong to nothing that can be seen.
    pub pid: u32,
    /// Its memory on the GPU, if told.
    pub bytes: Option<u64>,
    /// Its share of the GPU in percent since the last look, if told.
    pub utilisation: Option<u32>,
}

/// Readings of one GPU, found by its UUID: the order of the management library is not the driver's.
pub trait Board: Send {
    /// The GPU's UUID.
    fn uuid(&self) -> &str;
    /// Processes that compute or draw.
    ///
    /// # Errors
    /// The library's message; the same for all readings.
    fn processes(&mut self) -> Result<Vec<BoardProcess>, String>;
    /// Bytes in use.
    ///
    /// # Errors
    /// See [`Board::processes`].
    fn used_bytes(&mut self) -> Result<u64, String>;
    /// Utilisation in percent.
    ///
    /// # Errors
    /// See [`Board::processes`].
    fn utilisation(&mut self) -> Result<u32, String>;
    /// Clocks of the multiprocessors.
    ///
    /// # Errors
    /// See [`Board::processes`].
    fn clocks(&mut self) -> Result<Clocks, String>;
    /// Watts.
    ///
    /// # Errors
    /// See [`Board::processes`].
    fn power_w(&mut self) -> Result<f64, String>;
    /// Degrees Celsius.
    ///
    /// # Errors
    /// See [`Board::processes`].
    fn temperature_c(&mut self) -> Result<f64, String>;
}
