// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! For GitHub: workflow commands, which become annotations in a review.

use std::fmt::Write;

use crate::finding::{Finding, Severity};

/// One command per finding.
#[must_use]
pub fn github(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let end = finding.column + finding.length.max(1);
        let _ = writeln!(
            out,
            "::{command} file={},line={},col={},endColumn={end},title={}::{}",
            property(&finding.path),
            finding.line,
            finding.column,
            property(&format!("{} {}", finding.rule, finding.name)),
            data(&format!("{}\n{}", finding.message, finding.help)),
        );
    }
    out
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
