// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The kv_cache family.

pub mod reshape_paged_cache;
