// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the sampling family.

opweave_contract::sampling_operators!(modules);
