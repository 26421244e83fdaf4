// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Ctrl-C: the first asks the run to end and to write what it has, the second ends it.

use anyhow::Context as _;
use opweave_numerics::Interrupt;

use crate::exit::{Exit, Failure};

/// Installs the handler and returns what it sets.
pub(crate) fn install() -> Result<Interrupt, Failure> {
    let interrupt = Interrupt::default();
    let seen = interrupt.clone();
    ctrlc::set_handler(move || {
        if seen.requested() {
            // Reports are renamed into place, so ending here leaves the last whole one.
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        seen.request();
        eprintln!("\ninterrupted: writing what there is; once more to end at once");
    })
    .context("failed to install the handler for Ctrl-C")?;
    Ok(interrupt)
}
