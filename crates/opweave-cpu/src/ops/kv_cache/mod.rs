// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the kv_cache family.

opweave_contract::kv_cache_operators!(modules);
