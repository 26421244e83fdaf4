// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The activations.

use crate::simd::math::{times_gelu, times_gelu_16, times_gelu_tanh, times_gelu_tanh_16, times_silu, times_silu_16};
use crate::simd::{Elem, Simd};

/// An activation, as a type so that loops are compiled for one.
pub(super) trait Activation: Copy + Send + Sync {
    /// `y` times the activation of `z`, near enough for results of type T.
    fn times<S: Simd, T: Elem>(s: S, y: S::F32, z: S::F32) -> S::F32;
}

macro_rules! activation {
    ($(#[$doc:meta])* $name:ident, $full:ident, $short:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name;

        impl Activation for $name {
            #[inline(always)]
            fn times<S: Simd, T: Elem>(s: S, y: S::F32, z: S::F32) -> S::F32 {
                if T::NARROW { $short(s, y, z) } else { $full(s, y, z) }
            }
        }
    };
}

activation! {
    /// `z / (1 + e^-z)`.
    Silu, times_silu, times_silu_16
}
activation! {
    /// `z / 2 (1 + erf(z / sqrt(2)))`.
    Gelu, times_gelu, times_gelu_16
}
activation! {
    /// `z / 2 (1 + tanh(sqrt(2 / pi) (z + 0.044715 z^3)))`.
    GeluTanh, times_gelu_tanh, times_gelu_tanh_16
}
