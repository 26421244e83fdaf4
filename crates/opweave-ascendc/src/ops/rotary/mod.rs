// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the rotary family.

mod rotary_embedding;
mod steps;
