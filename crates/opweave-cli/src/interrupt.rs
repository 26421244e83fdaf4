// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Ctrl-C: the first asks the run to end and to write what it has, the second ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

use crate::exit::{Exit, Failure};

#[expect(dead_code, reason = "the commands that run long come next")]
/// Installs the handler and returns the flag that it sets.
pub(crate) fn install() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::SeqCst) {
            // Reports are renamed into place, so ending here leaves the last whole one.
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        eprintln!("\ninterrupted: writing what there is; once more to end at once");
    })
    .context("failed to install the handler for Ctrl-C")?;
    Ok(flag)
}
