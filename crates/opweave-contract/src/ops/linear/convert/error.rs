// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What is wrong with a weight of a file.

/// A weight that cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// Another length than the shape says.
    #[error("convert a quantised weight: {what} has {actual} elements; its shape says {}", product(.expected))]
    Length {
        /// Which of its parts.
        what: &'static str,
        /// The sizes whose product is expected.
        expected: Vec<usize>,
        /// Its length.
        actual: usize,
    },
    /// A size that is no multiple of what the format packs together.
    #[error("convert a quantised weight: {what} is {size}; expected a multiple of {of}")]
    Multiple {
        /// The size's name.
        what: &'static str,
        /// What it must be a multiple of.
        of: usize,
        /// The size.
        size: usize,
    },
    /// A count of bits that the format does not have.
    #[error("convert a quantised weight: codes of {bits} bits; expected 4 or 8")]
    Bits {
        /// The bits given.
        bits: usize,
    },
    /// A zero that is stored as 255 and used as 256.
    #[error("convert a quantised weight: the zero of group {group}, column {column} is 256; expected at most 255")]
    Zero {
        /// The group.
        group: usize,
        /// The column of the result.
        column: usize,
    },
}

fn product(factors: &[usize]) -> String {
    factors.iter().map(usize::to_string).collect::<Vec<_>>().join(" * ")
}
