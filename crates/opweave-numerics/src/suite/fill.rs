// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What arguments are made of, and how they lie.

use crate::input::Spread;

/// A value for a row and a column.
pub type ValueAt = fn(usize, usize) -> f64;

/// What one argument is made of.
#[derive(Clone, Copy, Debug)]
pub enum Fill {
    /// Drawn in the grade of the case or the run; the spread applies to normal and uniform values.
    Draw(Spread),
    /// Drawn like that, but never across the whole range and without special values: for factors whose extremes would hide
    /// what else is computed.
    Tame(Spread),
    /// A function of row and column; a vector has one row.
    Function(ValueAt),
    /// The same number everywhere.
    Constant(f64),
    /// Integers uniform on a range, both ends included.
    Integers(i64, i64),
    /// These integers, one after the other over all elements, and again from the first.
    Cycle(&'static [i64]),
    /// Integers uniform on a range, both ends included, but for every `every`-th element, which is the next of `outside`,
    /// whatever the seed: indices of which some are out of range, in known rows.
    Strewn {
        /// The lowest of the range.
        low: i64,
        /// The highest.
        high: i64,
        /// Elements from one of `outside` to the next; the first of them is element `every - 1`.
        every: usize,
        /// What stands there instead.
        outside: &'static [i64],
    },
    /// Integers of a range, both ends included, no two alike, in an order of the seed's: slots of which none is written twice.
    Distinct(i64, i64),
    /// As [`Fill::Distinct`], but every `every`-th element is the next of `outside`, as in [`Fill::Strewn`].
    DistinctStrewn {
        /// The lowest of the range.
        low: i64,
        /// The highest.
        high: i64,
        /// Elements from one of `outside` to the next.
        every: usize,
        /// What stands there instead.
        outside: &'static [i64],
    },
}

impl Fill {
    /// Standard normal, or the case's grade.
    pub const STANDARD: Fill = Fill::Draw(Spread::STANDARD);

    /// Drawn about `center`.
    pub const fn about(center: f32, scale: f32) -> Fill {
        Fill::Draw(Spread { center, scale })
    }
}

/// How the tensors of a case lie in memory. What an argument's contract does not let be strided stays contiguous.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lie {
    /// Elements between the end of a row and the start of the next, for arguments whose outer dimension may be strided.
    pub row_gap: usize,
    /// Elements by which base pointers are off their alignment.
    pub shift: usize,
    /// Elements between the end of an entry of the second dimension and the start of the next, where it may be strided.
    pub inner_gap: usize,
    /// Whether the second dimension lies outside the first, where the contract leaves their order free.
    pub swapped: bool,
}
