// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suites of opweave's operators.

use opweave_numerics::suites::builtin;

#[test]
fn every_suite_lists_unique_legal_cases() {
    let set = builtin().unwrap();
    set.check().unwrap();
    for suite in set.iter() {
        println!("{} {}", suite.operation(), suite.cases(&[]).unwrap().len());
    }
}
