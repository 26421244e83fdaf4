// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a call or a problem did wrong, in a form that names it.

use std::fmt;

/// The clause of a contract that an argument broke.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Clause {
    /// An optional tensor is present or absent, as the problem says.
    Presence,
    /// The element type.
    DType,
    /// The number of dimensions.
    Rank,
    /// A size that the problem or another argument fixes.
    Shape,
    /// A dynamic dimension that may not be this small.
    Minimum,
    /// A dynamic dimension beyond the bound that the problem states.
    Bound,
    /// A stride of a dimension that must be contiguous, or a row stride below the row's width.
    Stride,
    /// The promise that the tensor is contiguous.
    Contiguous,
    /// The alignment of the pointer or of a stride: one element, or what the problem promises.
    Alignment,
    /// A pointer that is null although the tensor has elements.
    Null,
    /// A span that leaves the address space.
    Address,
    /// The device whose memory the tensor is in.
    Device,
    /// The packed layout of a weight.
    Layout,
    /// An output that shares memory with another argument beyond what the contract allows.
    Overlap,
    /// The range of a scalar.
    Range,
    /// Workspace that is too small, misaligned or missing.
    Workspace,
}

impl Clause {
    /// The name used in messages and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Clause::Presence => "presence",
            Clause::DType => "dtype",
            Clause::Rank => "rank",
            Clause::Shape => "shape",
            Clause::Minimum => "minimum",
            Clause::Bound => "bound",
            Clause::Stride => "stride",
            Clause::Contiguous => "contiguous",
            Clause::Alignment => "alignment",
            Clause::Null => "null",
            Clause::Address => "address",
            Clause::Device => "device",
            Clause::Layout => "layout",
            Clause::Overlap => "overlap",
            Clause::Range => "range",
            Clause::Workspace => "workspace",
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A call that breaks its operator's contract. Nothing was launched and no output was touched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{operation}: argument `{argument}` breaks the {clause} clause: expected {expected}, got {actual}")]
pub struct ContractError {
    /// The operation.
    pub operation: &'static str,
    /// The argument.
    pub argument: &'static str,
    /// The clause that it breaks.
    pub clause: Clause,
    /// What the contract asks for.
    pub expected: String,
    /// What the call gave.
    pub actual: String,
}

/// A problem that no call could satisfy, or text that describes none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// A fact that the operator does not have.
    #[error("{operation}: unknown fact `{name}`; expected one of {known}{hint}", known = .known.join(", "))]
    Unknown {
        /// The operation.
        operation: &'static str,
        /// The name given.
        name: String,
        /// The names there are.
        known: Vec<String>,
        /// The nearest spelling, as a phrase, or empty.
        hint: String,
    },
    /// A fact without a default that was not given.
    #[error("{operation}: fact `{name}` is required: {legal}")]
    Missing {
        /// The operation.
        operation: &'static str,
        /// The fact.
        name: &'static str,
        /// Its legal values.
        legal: String,
    },
    /// A fact outside its legal set.
    #[error("{operation}: fact `{name}` is `{value}`; expected {legal}")]
    Illegal {
        /// The operation.
        operation: &'static str,
        /// The fact.
        name: String,
        /// The value given.
        value: String,
        /// Its legal values.
        legal: String,
    },
    /// Text that is not `name=value`, or a name given twice.
    #[error("{operation}: `{text}` is not understood; expected {expected}")]
    Syntax {
        /// The operation.
        operation: &'static str,
        /// The offending text.
        text: String,
        /// What was expected.
        expected: &'static str,
    },
}
