// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Every licence tag that the lint finds under a folder, one line `path<TAB>expression` each, without a policy.
//!
//! `cargo run --release -p opweave-license --example tags -- FOLDER`

use std::io::Write;

use opweave_license::policy::Policy;
use opweave_license::tree::Tree;
use opweave_license::view::{Scratch, View, sidecars};
use opweave_license::walk::Disk;

/// No policy is asked: only what files say is shown.
const NONE: &str = "schema_version = 1\nallow = []\n[native]\nexpression = \"MIT\"\ncopyright = \"none\"\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("a folder is wanted")?;
    let policy = Policy::parse("none", NONE)?;
    let disk = Disk::new(folder);
    let entries = disk.entries()?;
    let sidecars = sidecars(&entries);
    let mut scratch = Scratch::new(&sidecars);
    let mut out = std::io::stdout().lock();
    for entry in &entries {
        for tag in View::new(&policy, &disk, entry, &mut scratch).tags {
            writeln!(out, "{}\t{}", entry.path, tag.value)?;
        }
    }
    Ok(())
}
