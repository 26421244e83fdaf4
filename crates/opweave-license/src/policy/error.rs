// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Why a policy cannot be used: with file, line and what would be legal.

use std::fmt;
use std::ops::Range;

/// A place in a policy file, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Line.
    pub line: u32,
    /// Column in characters.
    pub column: u32,
}

/// The text of a policy and its name, for messages.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// File name, as shown.
    pub name: String,
    /// Content.
    pub text: String,
}

impl Source {
    /// Where a byte offset lies.
    #[must_use]
    pub fn at(&self, offset: usize) -> At {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        At { line: u32::try_from(line).unwrap_or(u32::MAX), column: u32::try_from(column).unwrap_or(u32::MAX) }
    }

    /// A line's text.
    #[must_use]
    pub fn line(&self, line: u32) -> &str {
        self.text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default()
    }

    /// An error at a span.
    pub(super) fn error(&self, span: &Range<usize>, message: impl Into<String>) -> PolicyError {
        let at = self.at(span.start);
        PolicyError {
            file: self.name.clone(),
            line: at.line,
            column: at.column,
            message: message.into(),
            excerpt: self.line(at.line).to_owned(),
        }
    }
}

/// A policy that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// The policy file.
    pub file: String,
    /// Line, from 1; 0 where the file as a whole is meant.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What is wrong and what is legal.
    pub message: String,
    /// The line itself.
    pub excerpt: String,
}

impl PolicyError {
    /// An error about the file as a whole.
    #[must_use]
    pub fn whole(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: 0, column: 0, message: message.into(), excerpt: String::new() }
    }
}

impl std::error::Error for PolicyError {}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "read the policy {}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.message)?;
        if !self.excerpt.is_empty() {
            write!(f, "\n  {} | {}", self.line, self.excerpt)?;
        }
        Ok(())
    }
}
