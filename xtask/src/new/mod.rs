// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! `cargo xtask new`: what every new operator, kernel or solution starts from.
//!
//! A skeleton is not empty: a new operator scales its rows, is validated and timed at once, and is then changed into what
//! it should be. That is how one sees that everything around it is in place.

mod kernel;
mod names;
mod operator;
mod scaffold;
mod solution;
pub(crate) mod trial;

use std::path::Path;

use anyhow::{Context as _, Result};
use clap::Subcommand;

use crate::format;

use names::Name;
use scaffold::Scaffold;

/// What to start.
#[derive(Subcommand)]
pub(crate) enum New {
    /// An operator: contract, reference, CPU kernel, public function, suite, page
    Operator {
        /// The family, such as `normalization`; one that does not exist is begun
        family: Name,
        /// The operator, such as `rms_norm`
        name: Name,
    },
    /// A further CPU kernel for an operator, as a row of its own
    Kernel {
        /// The operator
        operator: Name,
        /// What sets the kernel apart, such as `avx512`
        variant: Name,
    },
    /// A solution for the CPU: a crate that registers rows
    Solution {
        /// The last word of the crate's name: `blas` for `opweave-blas`
        name: Name,
    },
}

/// Writes the skeleton into the tree at `root`.
///
/// # Errors
/// If a file of it exists, or the tree has no place for one of its lines; nothing is written then.
pub(crate) fn run(root: &Path, new: &New) -> Result<()> {
    let scaffold = scaffold(root, new)?;
    scaffold.write(root)?;
    scaffold.report();
    // Names differ in length, and so do the line breaks that go with them.
    let formatted = format::run(root, &format::Options::default());
    formatted
        .context("everything above is written; where a line does not fit its file, mend it and run cargo xtask fmt")
}

fn scaffold(root: &Path, new: &New) -> Result<Scaffold> {
    match new {
        New::Operator { family, name } => operator::scaffold(root, family, name),
        New::Kernel { operator, variant } => kernel::scaffold(root, operator, variant),
        New::Solution { name } => solution::scaffold(name),
    }
}
