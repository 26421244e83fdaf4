// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Legality of a problem as data: what each fact may be, and how facts relate.

use std::fmt;

use opweave_tensor::DType;

use crate::{FactValue, Facts};

/// The legal values of one fact, beyond what its type says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Legal {
    /// Whatever the type holds.
    Any,
    /// An integer in `min..=max`.
    Range(u64, u64),
    /// A multiple of the first in `first..=max`.
    Multiples(u64, u64),
    /// One of these integers.
    Ints(&'static [u64]),
    /// One of these dtypes, or none where the fact is optional.
    DTypes(&'static [DType]),
}

impl Legal {
    /// Whether `value` is legal.
    pub fn admits(self, value: FactValue) -> bool {
        match (self, value) {
            (Legal::Any, _) | (_, FactValue::None) => true,
            (Legal::Range(min, max), FactValue::Int(n)) => (min..=max).contains(&n),
            (Legal::Multiples(of, max), FactValue::Int(n)) => (of..=max).contains(&n) && n % of.max(1) == 0,
            (Legal::Ints(set), FactValue::Int(n)) => set.contains(&n),
            (Legal::DTypes(set), FactValue::DType(d)) => set.contains(&d),
            _ => false,
        }
    }

    /// The legal set in words, or `None` when the type says it all.
    pub fn text(self) -> Option<String> {
        match self {
            Legal::Any => None,
            Legal::Range(min, u64::MAX) => Some(format!("at least {min}")),
            Legal::Range(min, max) => Some(format!("{min} to {max}")),
            Legal::Multiples(of, max) => Some(format!("multiples of {of} to {max}")),
            Legal::Ints(set) => Some(join(set, ", ")),
            Legal::DTypes(set) => Some(join(set, ", ")),
        }
    }
}

/// A relation between two facts of a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Relation {
    /// The first is a whole multiple of the second.
    Divides(&'static str, &'static str),
    /// The first is at most the second.
    AtMost(&'static str, &'static str),
    /// The first is absent, equal to the second, or one of the dtypes listed.
    SameOr(&'static str, &'static str, &'static [DType]),
    /// The first is absent, or the second is one of the dtypes listed.
    OnlyWith(&'static str, &'static str, &'static [DType]),
}

impl Relation {
    /// Whether the facts satisfy the relation. A fact that is absent satisfies it.
    pub fn holds(&self, facts: &Facts) -> bool {
        let (a, b) = self.facts();
        let (Some(left), Some(right)) = (facts.get(a), facts.get(b)) else { return true };
        match (*self, left, right) {
            (_, FactValue::None, _) | (_, _, FactValue::None) => true,
            (Relation::Divides(..), FactValue::Int(n), FactValue::Int(d)) => d != 0 && n % d == 0,
            (Relation::AtMost(..), FactValue::Int(n), FactValue::Int(max)) => n <= max,
            (Relation::SameOr(_, _, set), FactValue::DType(d), other) => {
                FactValue::DType(d) == other || set.contains(&d)
            }
            (Relation::OnlyWith(_, _, set), _, FactValue::DType(d)) => set.contains(&d),
            _ => left == right,
        }
    }

    /// The two facts that it relates.
    pub const fn facts(&self) -> (&'static str, &'static str) {
        match *self {
            Relation::Divides(a, b) | Relation::AtMost(a, b) => (a, b),
            Relation::SameOr(a, b, _) | Relation::OnlyWith(a, b, _) => (a, b),
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Relation::Divides(a, b) => write!(f, "{a} % {b} == 0"),
            Relation::AtMost(a, b) => write!(f, "{a} <= {b}"),
            Relation::SameOr(a, b, []) => write!(f, "{a} == {b}"),
            Relation::OnlyWith(a, b, set) => write!(f, "{a} only where {b} is {}", join(set, ", ")),
            Relation::SameOr(a, b, set) => write!(f, "{a} is {b} or {}", join(set, ", ")),
        }
    }
}

pub(crate) fn join<T: fmt::Display>(items: &[T], separator: &str) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(separator)
}
