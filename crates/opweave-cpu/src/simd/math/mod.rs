// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Functions of real numbers over vectors, for activations, softmax and attention.
//!
//! NaN gives NaN, infinities give limits, and no intermediate overflows or vanishes before the result does. The bounds are
//! of the distance from the true value in units of its last place (of the smallest subnormal, below the normal range), for
//! every f32; tests compare some millions of them, and `cargo run --release -p opweave-cpu --example math_bounds` all 2^32.
//!
//! | function | bound |
//! | --- | --- |
//! | [`exp`] | 1.1 |
//! | [`sigmoid`] | 3.1 |
//! | [`tanh`] | 2.7 |
//! | [`erf`] | 2.8 |
//! | [`times_exp`] | 2 |
//! | [`times_sigmoid`] | 3.5 |
//! | [`times_silu`] | 4.5 |
//! | [`times_gelu`] | 8 |
//! | [`times_gelu_tanh`] | 8 |
//!
//! The `_16` functions are for results that are rounded to 16 bits at once: shorter, and within `(24 + 1.2 |v|) 2^-24` of the true
//! value in proportion to it, `v` being the exponent that they are made of: less than a hundredth of what the rounding to f16
//! costs, near 0.
//!
//! Logarithms are taken once a row, where f64 of the standard library is as quick as anything.

mod erf;
mod exp;
mod gate;
mod gelu_tanh;
mod rare;
mod tanh;

pub use erf::{erf, times_gelu, times_gelu_16};
pub use exp::{exp, shifter, times_exp, times_exp_16};
pub use gate::{sigmoid, times_sigmoid, times_sigmoid_16, times_silu, times_silu_16, times_silu_16_pair};
pub use gelu_tanh::{times_gelu_tanh, times_gelu_tanh_16};
pub use tanh::tanh;

#[cfg(test)]
mod tests;
