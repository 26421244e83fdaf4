// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Memory of a pass: made once, for the largest pass that the options allow.

use opweave::DeviceId;
use opweave::device::cpu::HostBuffer;

use super::EngineError;
use super::options::Options;
use crate::checkpoint::Config;

/// Activations and tables.
pub(super) struct Buffers {
    pub(super) ids: Vec<i32>,
    pub(super) positions: Vec<i64>,
    pub(super) slots: Vec<i64>,
    /// Where the tokens of each sequence of the pass begin, and where the last one's end.
    pub(super) starts: Vec<i32>,
    pub(super) block_tables: Vec<i32>,
    pub(super) lengths: Vec<i32>,
    pub(super) residual: Vec<f32>,
    /// What norms give and products take.
    pub(super) normed: Vec<f32>,
    /// What products give back to the residual stream.
    pub(super) update: Vec<f32>,
    pub(super) qkv: Vec<f32>,
    pub(super) attended: Vec<f32>,
    pub(super) gate_up: Vec<f32>,
    pub(super) inner: Vec<f32>,
    /// The rows of which logits are wanted.
    pub(super) last: Vec<f32>,
    pub(super) logits: Vec<f32>,
    /// Operators' own.
    pub(super) scratch: HostBuffer,
}

impl Buffers {
    pub(super) fn new(c: &Config, options: &Options, (bytes, align): (usize, usize)) -> Result<Self, EngineError> {
        let tokens = options.chunk.max(options.sequences);
        let rows = if options.all_logits { tokens } else { options.sequences };
        let floats = |width: usize| vec![0.0_f32; tokens * width];
        Ok(Buffers {
            ids: Vec::with_capacity(tokens),
            positions: Vec::with_capacity(tokens),
            slots: Vec::with_capacity(tokens),
            starts: Vec::with_capacity(options.sequences + 1),
            block_tables: Vec::with_capacity(options.sequences * options.pages()),
            lengths: Vec::with_capacity(options.sequences),
            residual: floats(c.hidden_size),
            normed: floats(c.hidden_size),
            update: floats(c.hidden_size),
            qkv: floats(c.query_size() + 2 * c.kv_size()),
            attended: floats(c.query_size()),
            gate_up: floats(2 * c.intermediate_size),
            inner: floats(c.intermediate_size),
            last: vec![0.0; rows * c.hidden_size],
            logits: vec![0.0; rows * c.vocab_size],
            scratch: HostBuffer::new(DeviceId::CPU, bytes, align.max(1))?,
        })
    }
}
