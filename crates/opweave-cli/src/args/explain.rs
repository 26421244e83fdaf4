// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Arguments of `explain`.

use std::path::PathBuf;

use clap::Args;

/// `opweave explain OPERATION`
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The operation
    pub(crate) operation: String,
    /// Devices, here or not: cpu, cpu:x86_64+avx2, cuda:9.0, npu:ascend910b
    #[arg(long, value_delimiter = ',', default_value = "cpu", value_name = "DEVICE")]
    pub(crate) device: Vec<String>,
    /// Facts of the problem; without them only device, mode and availability are looked at
    #[arg(long, num_args = 1.., value_name = "NAME=VALUE")]
    pub(crate) problem: Vec<String>,
    /// Ranges of a dynamic dimension, each explained by itself: tokens<=8,64,512
    #[arg(long, value_name = "DIM<=SIZES")]
    pub(crate) buckets: Option<String>,
    /// eager or graph
    #[arg(long, default_value = "graph")]
    pub(crate) mode: String,
    /// An implementation or solution that is asked for, as an override
    #[arg(long, value_name = "NAME")]
    pub(crate) implementation: Option<String>,
    /// Only implementations that give the same bits each time
    #[arg(long)]
    pub(crate) deterministic: bool,
    /// Only implementations whose rows do not depend on their batch
    #[arg(long)]
    pub(crate) batch_invariant: bool,
    /// A measured profile
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}
