// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the embedding family.

opweave_contract::embedding_operators!(modules);
