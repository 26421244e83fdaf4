// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rotary family.

opweave_contract::rotary_operators!(modules);

mod common;
