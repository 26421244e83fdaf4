// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Log lines of the libraries, on standard error, only when asked for.

use tracing::level_filters::LevelFilter;

/// `-v` shows what is done, `-vv` why, `-vvv` everything.
pub(crate) fn start(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_target(true).init();
}
