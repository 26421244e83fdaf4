// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The embedding family.

opweave_contract::embedding_operators!(modules);
