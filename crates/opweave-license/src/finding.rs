// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Something to mend.

use schemars::JsonSchema;
use serde::Serialize;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Must be mended: the run ends with 1.
    Error,
    /// Should be mended: the run may still end with 0.
    Warning,
}

/// A place in a file; lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Path relative to the policy's folder, with forward slashes.
    pub path: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// The source line, if there is one to show.
    pub excerpt: Option<String>,
    /// How many characters of it are meant.
    pub length: u32,
}

impl Place {
    /// A file as a whole, or something that is missing from it.
    #[must_use]
    pub fn whole(path: &str) -> Self {
        Self { path: path.to_owned(), line: 1, column: 1, excerpt: None, length: 0 }
    }

    /// A stretch of one line.
    #[must_use]
    pub fn at(path: &str, line: u32, column: u32, excerpt: &str, length: usize) -> Self {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        Self { path: path.to_owned(), line, column, excerpt: Some(excerpt.to_owned()), length }
    }
}

/// One finding of one rule. The order is that of the report: path, line, column, rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Finding {
    /// Path relative to the policy's folder, with forward slashes.
    pub path: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Stable id of the rule, such as `L006`.
    pub rule: &'static str,
    /// The rule's name, such as `missing-citation`.
    pub name: &'static str,
    /// Weight.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub help: String,
    /// The source line that is meant, if there is one.
    pub excerpt: Option<String>,
    /// How many characters of the line are meant; 0 where there is no line to show.
    pub length: u32,
}
