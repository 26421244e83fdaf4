// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The activation family.

mod gelu_and_mul;
mod gelu_tanh_and_mul;
mod silu_and_mul;

pub use gelu_and_mul::gelu_and_mul;
pub use gelu_tanh_and_mul::gelu_tanh_and_mul;
pub use opweave_contract::ops::activation::{GeluAndMul, GeluAndMulArgs, GeluAndMulProblem};
pub use opweave_contract::ops::activation::{GeluTanhAndMul, GeluTanhAndMulArgs, GeluTanhAndMulProblem};
pub use silu_and_mul::silu_and_mul;

pub use opweave_contract::ops::activation::{SiluAndMul, SiluAndMulArgs, SiluAndMulProblem};
