// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What is wrong with a file, in numbers.

use std::io;
use std::path::{Path, PathBuf};

/// A file that is no model which this program can run.
#[derive(Debug, thiserror::Error)]
#[error("load {}: {what}", .path.display())]
pub struct LoadError {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub what: Defect,
}

impl Defect {
    /// The defect of the file at `path`.
    pub fn of(self, path: &Path) -> LoadError {
        LoadError { path: path.to_owned(), what: self }
    }
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Defect {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file ends too early.
    #[error("{what} needs {needs} bytes, {left} are left of the file")]
    Truncated {
        /// What was being read.
        what: String,
        /// Bytes that it takes.
        needs: u64,
        /// Bytes that there are.
        left: u64,
    },
    /// Something that names the format is another.
    #[error("{what} is {found}, expected {legal}")]
    Unknown {
        /// Which field.
        what: String,
        /// Its value.
        found: String,
        /// What can be read.
        legal: String,
    },
    /// Text that is not UTF-8.
    #[error("{what} is not UTF-8")]
    Text {
        /// Which text.
        what: String,
    },
    /// JSON that does not parse, or not as what it must be.
    #[error("{what}: {source}")]
    Json {
        /// Which document.
        what: String,
        /// Where and why.
        #[source]
        source: serde_json::Error,
    },
    /// Something that must be there is not.
    #[error("there is no {what}")]
    Missing {
        /// What.
        what: String,
    },
    /// Two of one name.
    #[error("{what} is there twice")]
    Duplicate {
        /// Which.
        what: String,
    },
    /// A tensor of another shape than the configuration asks for.
    #[error("tensor {name} has shape {found:?}, the configuration asks for {wanted:?}")]
    Shape {
        /// The tensor.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// The shape by the configuration.
        wanted: Vec<usize>,
    },
    /// A tensor that this architecture does not have: the model would compute something else.
    #[error("tensor {name} is no part of a Llama model")]
    Foreign {
        /// The tensor.
        name: String,
    },
}

impl Defect {
    pub(crate) fn unknown(what: impl Into<String>, found: impl ToString, legal: impl Into<String>) -> Self {
        Defect::Unknown { what: what.into(), found: found.to_string(), legal: legal.into() }
    }

    pub(crate) fn missing(what: impl Into<String>) -> Self {
        Defect::Missing { what: what.into() }
    }
}
