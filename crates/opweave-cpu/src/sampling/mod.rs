// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The sampling family.

mod argmax;
mod draw;

pub use argmax::{ArgmaxCall, argmax};
pub use draw::{DrawCall, Parameters, draw};
