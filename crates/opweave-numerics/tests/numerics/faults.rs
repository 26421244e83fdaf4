// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Expected faults: raised by a right kernel in every mode, missed and misplaced ones found, and no case believed that states
//! others than its data has.

use std::sync::Arc;

use opweave_contract::ops::embedding::{Embedding, ID_OUTSIDE_THE_VOCABULARY};
use opweave_contract::{DynDims, Operator};
use opweave_numerics::report::FindingKind;
use opweave_numerics::suite::{Case, Fill, Suite, SuiteArguments, SuiteSet};
use opweave_numerics::{Config, Mode, Report, Verdict};

use crate::support::{ByReference, Damage, registry, try_run_on};

const TABLE: [&str; 3] = ["vocab_size=8", "hidden_size=3", "dtype=f32"];

/// One case whose ids 1 and 3 are outside, and which says so of `stated`.
struct Outside {
    ids: &'static [i64],
    stated: &'static [u64],
}

impl Suite for Outside {
    type Op = Embedding;
    fn cases(&self, _: &SuiteArguments) -> Vec<Case<Embedding>> {
        let case = Case::new("ids", Embedding::problem_from(&TABLE).unwrap(), &[4]).fill("ids", Fill::Cycle(self.ids));
        let stated = !self.stated.is_empty();
        vec![if stated { case.faults(ID_OUTSIDE_THE_VOCABULARY, self.stated.iter().copied()) } else { case }]
    }
    fn base(&self) -> Vec<String> {
        TABLE.map(str::to_owned).to_vec()
    }
    fn accumulation_length(&self, case: &Case<Embedding>) -> usize {
        assert_eq!(case.dyn_dims(), DynDims::new(&[4]));
        1
    }
}

fn report(damage: Damage, suite: Outside, mode: Mode) -> Report {
    let registry = registry(|r| {
        r.register::<Embedding, _>(Arc::new(ByReference::<Embedding>::new("x", damage).claims(true, true))).unwrap();
    });
    let mut suites = SuiteSet::new();
    suites.add(suite).unwrap();
    let config = Config { mode, repeat: 2, batch_invariance: mode == Mode::Eager, ..Config::default() };
    try_run_on(&registry, &suites, &config).unwrap()
}

const SOME: &[i64] = &[2, 8, 0, -1];

#[test]
fn faults_that_the_case_states_are_no_failure_in_any_mode() {
    for mode in [Mode::Eager, Mode::Graph] {
        let report = report(Damage::None, Outside { ids: SOME, stated: &[1, 3] }, mode);
        let case = &report.operations[0].cases[0];
        assert_eq!(case.verdict, Verdict::Passed, "{mode}: {:?}", case.findings);
        assert_eq!(case.parameters["fault: id outside the vocabulary"], "rows [1, 3]");
    }
}

#[test]
fn a_fault_that_is_missed_misplaced_or_foreign_is_found_in_every_mode() {
    for damage in [Damage::NoFault, Damage::FaultRow, Damage::Fault, Damage::FaultOnce] {
        for mode in [Mode::Eager, Mode::Graph] {
            let report = report(damage, Outside { ids: SOME, stated: &[1, 3] }, mode);
            let case = &report.operations[0].cases[0];
            assert_eq!(case.verdict, Verdict::Failed, "{damage:?} {mode}");
            assert!(
                case.findings.iter().any(|f| f.kind == FindingKind::Fault),
                "{damage:?} {mode}: {:?}",
                case.findings
            );
        }
    }
}

#[test]
fn a_case_that_states_other_faults_than_its_data_has_is_an_error() {
    for (ids, stated) in [(SOME, &[1][..]), (SOME, &[][..]), (SOME, &[1, 2, 3][..]), (&[0, 1, 2, 3][..], &[0][..])] {
        let report = report(Damage::None, Outside { ids, stated }, Mode::Eager);
        let case = &report.operations[0].cases[0];
        assert!(matches!(case.verdict, Verdict::Error { .. }), "{ids:?} {stated:?}: {:?}", case.verdict);
    }
}
