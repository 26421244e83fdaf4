// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L013 manifest-mismatch: a manifest's licence is the AND of what its packaged files carry, and licence files are in the package

use super::{Check, Rule, Sink, Whole};
use crate::manifest;

pub(super) static RULE: Rule = Rule {
    id: "L013",
    name: "manifest-mismatch",
    what: "a manifest's licence is the AND of what its packaged files carry, and licence files are in the package",
    why: "A registry shows the manifest, and tools that audit dependencies read nothing else.",
    mend: "Write the AND of all expressions into `license` of Cargo.toml, pyproject.toml or package.json, and pack the licence files.",
    example: r#"license = "Apache-2.0"        # with one file under kernels/ that carries MIT   <- L013
license = "Apache-2.0 AND MIT"                                                 <- clean"#,
    check: Check::Tree(check),
};

fn check(whole: &Whole<'_>, sink: &mut Sink) {
    for package in manifest::packages(whole) {
        for fault in package.faults(whole) {
            if fault.warning {
                sink.warning(fault.place, fault.message, fault.help);
            } else {
                sink.error(fault.place, fault.message, fault.help);
            }
        }
    }
}
