// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Quantised weights of files as the plain tensors of `linear_wna16`: rearranged once, on the host, no number changed.
//!
//! They are no operators: they stand with the contracts because the order of the codes is theirs.
//!
//! | function | codes come in |
//! | --- | --- |
//! | [`from_gguf`] | blocks of 32 columns with a scale, of 4 bits the first half of a block in lower halves of bytes |
//! | [`from_gptq`] | words of 32 bits along the columns of the input, zeros along those of the result, minus one or not |
//! | [`from_awq`] | words of 32 bits along the columns of the result, in the order 0 2 4 6 1 3 5 7 |

mod error;
mod gguf;
mod words;

pub use error::ConvertError;
pub use gguf::{GgufBlock, from_gguf};
pub use words::{StoredZero, from_awq, from_gptq};

use half::f16;

/// A weight as `linear_wna16` takes it, with scales that come with the codes.
#[derive(Clone, PartialEq, Debug)]
pub struct PlainWeight {
    /// `[out_features, in_features * bits / 8]`.
    pub codes: Vec<u8>,
    /// `[in_features / 32, out_features]`.
    pub scales: Vec<f16>,
    /// As `scales`: minima where the format has them, else empty.
    pub minima: Vec<f16>,
}

/// Codes as `linear_wna16` takes them, with the codes of zero; the scales of the file are as they are wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlainCodes {
    /// `[out_features, in_features * bits / 8]`.
    pub codes: Vec<u8>,
    /// `[in_features / group_size, out_features]`, or empty where the file has none.
    pub zeros: Vec<u8>,
}

/// Sizes of a weight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WeightShape {
    /// Columns of the input.
    pub in_features: usize,
    /// Columns of the result.
    pub out_features: usize,
}

impl WeightShape {
    /// A weight of these sizes.
    pub const fn new(in_features: usize, out_features: usize) -> Self {
        WeightShape { in_features, out_features }
    }
}

/// Refuses a length that is not what the shape says.
fn expect_length(what: &'static str, actual: usize, factors: &[usize]) -> Result<(), ConvertError> {
    let expected = factors.iter().try_fold(1_usize, |product, &factor| product.checked_mul(factor));
    if expected == Some(actual) {
        return Ok(());
    }
    Err(ConvertError::Length { what, expected: factors.to_vec(), actual })
}

/// Refuses a size that is no multiple of what the format packs together.
fn expect_multiple(what: &'static str, size: usize, of: usize) -> Result<(), ConvertError> {
    if of > 0 && size.is_multiple_of(of) { Ok(()) } else { Err(ConvertError::Multiple { what, of, size }) }
}
