// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The activation family.

opweave_contract::activation_operators!(modules);

mod common;
