// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Buckets: ranges of one dynamic dimension, each with a plan of its own.

use std::fmt;

use opweave_contract::{MAX_DYNAMIC, Signature, nearest};

/// The most buckets of a request.
pub const MAX_BUCKETS: usize = 16;

/// The range `low..=high` of a dynamic dimension for which a plan is made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Bucket {
    /// Index of the dimension in the signature; `None` when the request has no buckets.
    pub dim: Option<u8>,
    /// Smallest size.
    pub low: usize,
    /// Largest size; `usize::MAX` when open.
    pub high: usize,
}

impl Bucket {
    /// Every size of every dimension.
    pub const ALL: Bucket = Bucket { dim: None, low: 0, high: usize::MAX };
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.dim, self.high) {
            (None, _) => f.pad("all"),
            (_, usize::MAX) => f.pad(&format!("{}..", self.low)),
            (_, high) => f.pad(&format!("{}..={high}", self.low)),
        }
    }
}

/// The buckets of a request: upper ends of consecutive ranges of one dimension, the last one open.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Buckets {
    dim: Option<u8>,
    /// Inclusive upper ends of all buckets but the last, ascending.
    ends: Vec<usize>,
}

/// Buckets that make no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BucketError {
    /// The operator has no such dimension.
    #[error("{operation} has no dynamic dimension `{name}`; it has {known}{hint}")]
    Dimension {
        /// The operation.
        operation: &'static str,
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
        /// The nearest spelling, as a phrase, or empty.
        hint: String,
    },
    /// Ends that do not ascend, or too many of them.
    #[error("bucket ends {ends:?} are not usable; expected at most {max} ascending sizes", max = MAX_BUCKETS - 1)]
    Ends {
        /// The ends given.
        ends: Vec<usize>,
    },
    /// Text that is not `name<=8,64,512`.
    #[error("buckets `{text}` are not understood; expected a dimension and ascending sizes, such as tokens<=8,64,512")]
    Syntax {
        /// The offending text.
        text: String,
    },
}

impl Buckets {
    /// One bucket for everything.
    pub fn none() -> Self {
        Buckets::default()
    }

    /// Buckets of the dimension `name` that end at `ends`, inclusive; a last open one follows. A final `usize::MAX` is
    /// the open bucket itself.
    ///
    /// # Errors
    /// [`BucketError`] for a name that is no dynamic dimension, or ends that do not ascend.
    pub fn new(signature: &Signature, name: &str, ends: &[usize]) -> Result<Self, BucketError> {
        let dim = signature.dim(name).filter(|&d| d < MAX_DYNAMIC).ok_or_else(|| {
            let known: Vec<&str> = signature.dims.iter().map(|d| d.name).collect();
            let hint =
                nearest(name, known.iter().copied()).map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
            BucketError::Dimension {
                operation: signature.operation,
                name: name.to_owned(),
                known: known.join(", "),
                hint,
            }
        })?;
        let ends = ends.strip_suffix(&[usize::MAX]).unwrap_or(ends);
        if ends.len() >= MAX_BUCKETS || !ends.windows(2).all(|w| w[0] < w[1]) {
            return Err(BucketError::Ends { ends: ends.to_vec() });
        }
        Ok(Buckets { dim: Some(dim as u8), ends: ends.to_vec() })
    }

    /// Reads `tokens<=8,64,512`, with `inf` allowed at the end.
    ///
    /// # Errors
    /// [`BucketError`].
    pub fn parse(signature: &Signature, text: &str) -> Result<Self, BucketError> {
        let syntax = || BucketError::Syntax { text: text.to_owned() };
        let (name, ends) = text.split_once("<=").ok_or_else(syntax)?;
        let end = |e: &str| if e == "inf" { Ok(usize::MAX) } else { e.parse().map_err(|_| syntax()) };
        let ends: Vec<usize> = ends.split(',').map(|e| end(e.trim())).collect::<Result<_, _>>()?;
        Buckets::new(signature, name.trim(), &ends)
    }

    /// The buckets in ascending order; at least one.
    pub fn iter(&self) -> impl Iterator<Item = Bucket> + '_ {
        let lows = std::iter::once(0).chain(self.ends.iter().map(|&e| e.saturating_add(1)));
        let highs = self.ends.iter().copied().chain(std::iter::once(usize::MAX));
        lows.zip(highs).map(|(low, high)| Bucket { dim: self.dim, low, high })
    }

    /// The dimension that they divide.
    pub fn dim(&self) -> Option<u8> {
        self.dim
    }

    /// Index of the bucket that holds `size`: counts the ends below it, without a branch on any of them.
    #[inline]
    pub fn index(&self, size: usize) -> usize {
        self.ends.iter().map(|&end| usize::from(size > end)).sum()
    }
}
