// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a declaration gives: problems, specs, checks, texts. Generic over operators, so that a new one is tested by its name.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

/// Runs a generic function for the test's own operator and every one of the workspace.
macro_rules! for_each_operator {
    ($function:ident) => {{
        let mut covered = vec![$function::<crate::probe::Probe>()];
        opweave_contract::operators!(run_family covered $function);
        covered
    }};
}

macro_rules! run_family {
    ([$covered:ident $function:ident] $family:ident: $($module:ident: $operator:ident),* $(,)?) => {
        $($covered.push($function::<opweave_contract::ops::$family::$operator>());)*
    };
}

mod calls;
mod clauses;
mod declarations;
mod layouts;
mod pages;
mod pieces;
mod probe;
mod problems;
mod rotary_table;
mod round_trips;
mod sharing;

/// What goes through the operators by their types misses none that is declared.
#[test]
fn operators_by_type_are_those_by_declaration() {
    fn name<O: opweave_contract::Operator>() -> &'static str {
        O::NAME
    }
    let declared = opweave_contract::ops::operations().map(|operation| operation.operation);
    let expected: Vec<&str> = [name::<crate::probe::Probe>()].into_iter().chain(declared).collect();
    assert_eq!(for_each_operator!(name), expected);
}
