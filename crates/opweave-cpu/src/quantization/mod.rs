// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The quantization family: rows of numbers to codes of one byte.
//!
//! A code is the quotient by the scale, rounded to f32 and then to the code, so that every device gets the same bits.

mod dynamic;
pub(crate) mod encode;
mod fixed;
pub(crate) mod magnitude;
mod product;
mod scale;

pub use dynamic::{DynamicCall, dynamic_quant};
pub use fixed::{FixedCall, quantize};
pub use scale::ScaleRule;

/// Expands to a match that runs `$body` with `$t` and `$c` standing for the types of an activation's and a code's dtype.
macro_rules! by_types {
    ($dtype:expr, $codes:expr, |$t:ident, $c:ident| $body:expr) => {
        match ($dtype, $codes) {
            (DType::F32, codes) => {
                type $t = f32;
                $crate::quantization::by_types!(codes, |$c| $body)
            }
            (DType::F16, codes) => {
                type $t = half::f16;
                $crate::quantization::by_types!(codes, |$c| $body)
            }
            (DType::BF16, codes) => {
                type $t = half::bf16;
                $crate::quantization::by_types!(codes, |$c| $body)
            }
            (other, _) => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    };
    ($codes:ident, |$c:ident| $body:expr) => {
        match $codes {
            DType::F8E4M3 => {
                type $c = opweave_tensor::F8E4M3;
                $body
            }
            DType::F8E5M2 => {
                type $c = opweave_tensor::F8E5M2;
                $body
            }
            DType::I8 => {
                type $c = i8;
                $body
            }
            other => unreachable!("the contract admits f8e4m3, f8e5m2 and i8, not {other}"),
        }
    };
}
pub(crate) use by_types;
