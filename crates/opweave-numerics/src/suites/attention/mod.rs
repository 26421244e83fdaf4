// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The attention family.

mod common;

opweave_contract::attention_operators!(modules);
