// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Normalization of rows.

opweave_contract::normalization_operators!(modules);

mod common;
mod quantized;
