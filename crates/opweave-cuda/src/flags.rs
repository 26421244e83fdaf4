// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Bits of parameter structs: a type for each struct, so that those of one are not handed to another.

/// Declares a type of bits, to which its struct's module adds the bits by name.
macro_rules! flags {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub(crate) struct $name(pub(crate) u32);

        impl $name {
            /// These bits where `on`, else none.
            #[inline]
            pub(crate) fn when(self, on: bool) -> $name {
                if on { self } else { $name(0) }
            }
        }

        impl std::ops::BitOr for $name {
            type Output = $name;
            #[inline]
            fn bitor(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }
        }
    };
}

pub(crate) use flags;
