// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Kernels of one byte or one index for each row: quantization and argmax, against plain loops.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod argmax;
mod composed;
mod quant;
mod support;
