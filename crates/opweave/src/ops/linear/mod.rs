// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The linear family.

opweave_contract::linear_operators!(functions);
