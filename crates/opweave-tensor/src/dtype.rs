// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Element types.

use std::fmt;
use std::str::FromStr;

macro_rules! dtypes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $bits:literal;)*) => {
        /// The type of a tensor's elements.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum DType { $($(#[$doc])* $variant,)* }

        impl DType {
            /// Every dtype, in declaration order.
            pub const ALL: &'static [DType] = &[$(DType::$variant,)*];

            /// The name used in reports, problems and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(DType::$variant => $name,)* }
            }

            /// Storage width of one element in bits.
            pub const fn bits(self) -> usize {
                match self { $(DType::$variant => $bits,)* }
            }
        }
    };
}

dtypes! {
    /// IEEE binary64.
    F64 = "f64", 64;
    /// IEEE binary32.
    F32 = "f32", 32;
    /// IEEE binary16.
    F16 = "f16", 16;
    /// The upper half of a binary32.
    BF16 = "bf16", 16;
    /// OCP 8-bit float, 4 exponent and 3 mantissa bits, no infinities.
    F8E4M3 = "f8e4m3", 8;
    /// OCP 8-bit float, 5 exponent and 2 mantissa bits.
    F8E5M2 = "f8e5m2", 8;
    /// OCP 8-bit power-of-two scale.
    F8E8M0 = "f8e8m0", 8;
    /// OCP 4-bit float, two to a byte, the first in the low nibble.
    F4E2M1 = "f4e2m1", 4;
    /// Signed 64-bit integer.
    I64 = "i64", 64;
    /// Signed 32-bit integer.
    I32 = "i32", 32;
    /// Signed 16-bit integer.
    I16 = "i16", 16;
    /// Signed 8-bit integer.
    I8 = "i8", 8;
    /// Signed 4-bit integer, two to a byte, the first in the low nibble.
    I4 = "i4", 4;
    /// Unsigned 64-bit integer.
    U64 = "u64", 64;
    /// Unsigned 32-bit integer.
    U32 = "u32", 32;
    /// Unsigned 8-bit integer, and the type of packed weights and workspaces.
    U8 = "u8", 8;
    /// Unsigned 4-bit integer, two to a byte, the first in the low nibble.
    U4 = "u4", 4;
    /// A byte that is 0 or 1.
    Bool = "bool", 8;
}

impl DType {
    /// Bytes that `elements` consecutive elements occupy, or `None` when that overflows or is no whole number of bytes.
    pub const fn bytes_for(self, elements: usize) -> Option<usize> {
        match elements.checked_mul(self.bits()) {
            Some(bits) if bits % 8 == 0 => Some(bits / 8),
            _ => None,
        }
    }

    /// Alignment in bytes of one element: the size of the element, one byte for packed types.
    pub const fn alignment(self) -> usize {
        if self.bits() < 8 { 1 } else { self.bits() / 8 }
    }

    /// Whether the values are floating-point numbers.
    pub const fn is_float(self) -> bool {
        use DType::*;
        matches!(self, F64 | F32 | F16 | BF16 | F8E4M3 | F8E5M2 | F8E8M0 | F4E2M1)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no dtype.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("dtype `{0}` is unknown; expected one of {list}", list = DType::ALL.iter().map(|d| d.name()).collect::<Vec<_>>().join(", "))]
pub struct ParseDTypeError(pub String);

impl FromStr for DType {
    type Err = ParseDTypeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        DType::ALL.iter().copied().find(|d| d.name() == text).ok_or_else(|| ParseDTypeError(text.to_owned()))
    }
}
