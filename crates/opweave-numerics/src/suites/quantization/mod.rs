// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The quantization family.

opweave_contract::quantization_operators!(modules);

mod common;
