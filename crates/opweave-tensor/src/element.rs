// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rust types that stand for a dtype.

use crate::DType;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that is one element of a [`DType`]: what slices may hold.
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The dtype of this type.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($type:ty => $dtype:ident),* $(,)?) => {
        $(impl sealed::Sealed for $type {}
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
        })*
    };
}

elements! {
    f64 => F64, f32 => F32, half::f16 => F16, half::bf16 => BF16,
    i64 => I64, i32 => I32, i16 => I16, i8 => I8, u64 => U64, u32 => U32, u8 => U8, bool => Bool,
    crate::F8E4M3 => F8E4M3, crate::F8E5M2 => F8E5M2, crate::F8E8M0 => F8E8M0,
}
