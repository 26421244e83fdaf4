// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The sampling family.

opweave_contract::sampling_operators!(functions);

pub use opweave_contract::ops::sampling::{FilterOrder, NanOrder, TemperatureAt};
