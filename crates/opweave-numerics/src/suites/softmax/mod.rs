// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The softmax family.

opweave_contract::softmax_operators!(modules);

mod common;
