// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Processes that meet the double, or less of it.

use std::path::Path;

use crate::shared::{Met, run};

/// Runs the script of one operator's life in a process of its own, with CANN in `home`.
pub(crate) fn meet(home: &Path, variables: &[(&str, &str)]) -> Met {
    run("script::the_script", home, variables)
}
