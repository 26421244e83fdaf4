// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Overrides, rule by rule. A caller who wants one implementation gets that one, or an error.

use std::sync::{Arc, Mutex};

use opweave_contract::Operator;
use opweave_device::DeviceKey;
use opweave_registry::{ExecutionMode, KernelSpec, Verdict, override_variable};
use opweave_runtime::{
    Bindings, Config, Environment, InitializeError, Override, OverrideError, OverrideSource, Query, Request, Winner,
    select,
};

use crate::noop_chain::norm;
use crate::registry_rules::row;
use crate::selection_rules::{frozen, problem, query};
use crate::support::operators::*;
use crate::support::world::{NOOP, OPERATIONS, SOLUTIONS, builder, runtime};

const NORM: &str = "OPWEAVE_OVERRIDE_TEST_NORM";

fn config() -> Config {
    Config::new().device(NOOP).request(Request::<TestNorm>::new(norm()))
}

fn initialize(variables: &[(&str, &str)], config: &Config) -> Result<Arc<Bindings>, InitializeError> {
    builder(variables).build().initialize(config)
}

/// The row that the norm of [`config`] is bound to.
fn bound(bindings: &Bindings) -> String {
    bindings.prepared::<TestNorm>(NOOP, &norm()).unwrap().records()[0].spec.name.clone()
}

#[test]
fn o1_the_variable_is_the_operation_in_upper_case_with_other_characters_as_underscores() {
    assert_eq!(override_variable("rms_norm"), "OPWEAVE_OVERRIDE_RMS_NORM");
    assert_eq!(override_variable("l2-norm.v2 x"), "OPWEAVE_OVERRIDE_L2_NORM_V2_X");
    let bindings = initialize(&[(NORM, "noop.reference.test_norm")], &config()).unwrap();
    assert_eq!(bound(&bindings), "noop.reference.test_norm");
}

#[test]
fn o2_the_environment_beats_the_argument_and_both_beat_rank() {
    assert_eq!(bound(&initialize(&[], &config()).unwrap()), "noop.native.test_norm.wide");
    let argument = config().override_with("test_norm", "noop.native.test_norm.atomic");
    let bindings = initialize(&[], &argument).unwrap();
    assert_eq!(bound(&bindings), "noop.native.test_norm.atomic");
    assert_eq!(bindings.overrides().get("test_norm").unwrap().source, OverrideSource::Argument);
    let bindings = initialize(&[(NORM, "noop.reference.test_norm")], &argument).unwrap();
    assert_eq!(bound(&bindings), "noop.reference.test_norm");
    assert_eq!(bindings.overrides().get("test_norm").unwrap().source, OverrideSource::Environment(NORM.into()));
    let because = bindings.prepared::<TestNorm>(NOOP, &norm()).unwrap().records()[0].because.clone();
    assert_eq!(because, format!("override `noop.reference.test_norm` (from {NORM})"));
}

#[test]
fn o3_a_value_is_a_full_name_or_a_solution_or_a_qualified_solution() {
    let cases = [
        ("noop.native.test_norm.atomic", "noop.native.test_norm.atomic"),
        ("  noop.native.test_norm.atomic\t", "noop.native.test_norm.atomic"),
        ("reference", "noop.reference.test_norm"),
        ("noop.reference", "noop.reference.test_norm"),
        (" native ", "noop.native.test_norm.wide"),
        ("noop.native", "noop.native.test_norm.wide"),
    ];
    for (value, expected) in cases {
        assert_eq!(bound(&initialize(&[(NORM, value)], &config()).unwrap()), expected, "`{value}`");
    }
    for value in ["Native", "NOOP.NATIVE", "cuda.reference", "noop", "wide", "test_norm"] {
        let error = initialize(&[(NORM, value)], &config()).unwrap_err();
        assert!(matches!(error, InitializeError::Override(OverrideError::Unknown { .. })), "`{value}`: {error}");
    }
}

#[test]
fn o3_the_full_name_comes_first() {
    // A row whose full name is another row's solution.
    let registry = frozen([KernelSpec { solution: "b".into(), ..row("a", 9) }, row("b", 0)]);
    let overriding = Override { value: "b".into(), source: OverrideSource::Argument };
    let (problem, key) = (problem(), DeviceKey::noop(&[]));
    let selection = select(&registry, &Query { overriding: Some(&overriding), ..query(Some(&problem), &key) }).unwrap();
    assert_eq!(selection.row.spec().name, "b");
}

#[test]
fn o4_all_other_filters_still_apply() {
    // The eager row cannot run in graph mode, override or not.
    let eager = config().override_with("test_norm", "noop.native.test_norm.eager");
    let error = initialize(&[], &eager).unwrap_err();
    let InitializeError::Selection(errors) = &error else { panic!("{error}") };
    assert_eq!(errors[0].overriding.as_ref().unwrap().value, "noop.native.test_norm.eager");
    let text = error.to_string();
    assert!(text.contains("noop.native.test_norm.eager: runs in mode eager, not graph"), "{text}");
    assert!(text.contains("noop.native.test_norm.wide: override `noop.native.test_norm.eager`"), "{text}");
    assert_eq!(bound(&initialize(&[], &eager.mode(ExecutionMode::Eager)).unwrap()), "noop.native.test_norm.eager");
    // Nor does it bypass needs.
    let mut odd = norm();
    odd.hidden_size = 63;
    let wide = Config::new().device(NOOP).request(Request::<TestNorm>::new(odd));
    let error = initialize(&[(NORM, "noop.native.test_norm.wide")], &wide).unwrap_err().to_string();
    assert!(error.contains("hidden_size = 63 is outside multiples of 8"), "{error}");
}

#[test]
fn o5_a_solution_with_several_eligible_rows_goes_by_rank_then_name() {
    let of = |solution: &str, name, priority| KernelSpec { solution: solution.into(), ..row(name, priority) };
    let registry = frozen([of("x", "d", 3), of("x", "c", 3), of("x", "e", 1), of("y", "a", 9)]);
    let overriding = Override { value: "x".into(), source: OverrideSource::Argument };
    let (problem, key) = (problem(), DeviceKey::noop(&[]));
    let selection = select(&registry, &Query { overriding: Some(&overriding), ..query(Some(&problem), &key) }).unwrap();
    assert_eq!(selection.row.spec().name, "c");
    assert_eq!(selection.winner, Winner::Override(overriding));
    let loser = selection.considered.iter().find(|c| c.name == "a").unwrap();
    assert!(matches!(loser.verdict, Verdict::Rejected(_)), "{loser:?}");
}

/// Case B01: a typing error is an error with the nearest spelling, not another path.
#[test]
fn o6_an_unknown_value_names_operation_value_origin_known_and_nearest() {
    let error = initialize(&[(NORM, "nativ")], &config()).unwrap_err().to_string();
    assert_eq!(
        error,
        "override `nativ` of test_norm (from OPWEAVE_OVERRIDE_TEST_NORM) is unknown; expected one of broken, native, \
         noop.broken, noop.broken.test_norm, noop.native, noop.native.test_norm.atomic, noop.native.test_norm.eager, \
         noop.native.test_norm.wide, noop.reference, noop.reference.test_norm, noop.vendor, noop.vendor.test_norm, \
         reference, vendor; did you mean `native`?"
    );
    let cases = [
        (" NATIVE ", "did you mean `native`?"),
        ("noop.refrence", "did you mean `noop.reference`?"),
        ("noop.native.test_norm.wid", "did you mean `noop.native.test_norm.wide`?"),
    ];
    for (value, hint) in cases {
        let error = initialize(&[], &config().override_with("test_norm", value)).unwrap_err().to_string();
        assert!(error.contains("(from the configuration)") && error.ends_with(hint), "{value}: {error}");
    }
}

#[test]
fn o7_an_argument_outside_the_request_is_an_error() {
    let error = initialize(&[], &config().override_with("test_linear", "native")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "override of `test_linear` (from the configuration) is outside the operations asked for: test_norm"
    );
    assert!(initialize(&[], &config().override_with("no_such_operation", "native")).is_err());
}

#[test]
fn o7_a_variable_outside_the_request_is_ignored_but_listed() {
    let bindings = initialize(&[("OPWEAVE_OVERRIDE_TEST_LINEAR", "nonsense")], &config()).unwrap();
    assert_eq!(bindings.notes(), ["OPWEAVE_OVERRIDE_TEST_LINEAR is ignored: test_linear was not asked for"]);
    assert!(bindings.overrides().get("test_linear").is_none());
}

#[test]
fn o7_a_variable_of_no_operation_at_all_is_an_error() {
    let error = initialize(&[("OPWEAVE_OVERRIDE_TEST_NROM", "native")], &config()).unwrap_err().to_string();
    assert_eq!(
        error,
        "OPWEAVE_OVERRIDE_TEST_NROM overrides no operation; expected one of OPWEAVE_OVERRIDE_TEST_ATTENTION, \
         OPWEAVE_OVERRIDE_TEST_LINEAR, OPWEAVE_OVERRIDE_TEST_NORM; did you mean OPWEAVE_OVERRIDE_TEST_NORM?"
    );
    // Blank or not: the name is wrong.
    assert!(initialize(&[("OPWEAVE_OVERRIDE_", "")], &config()).is_err());
}

#[test]
fn o8_an_unavailable_implementation_says_what_is_missing() {
    for value in ["vendor", "noop.vendor", "noop.vendor.test_norm"] {
        let error = initialize(&[(NORM, value)], &config()).unwrap_err().to_string();
        let missing = "noop.vendor.test_norm: library `vendor` is missing: libvendor.so: not found";
        assert!(error.contains(missing), "{value}: {error}");
        assert!(error.contains(&format!("under override `{value}`")), "{value}: {error}");
    }
}

/// Case B01: empty and blank.
#[test]
fn o9_a_blank_value_is_unset_and_noted() {
    for value in ["", "  ", "\t\n"] {
        let bindings = initialize(&[(NORM, value)], &config()).unwrap();
        assert_eq!(bound(&bindings), "noop.native.test_norm.wide");
        assert_eq!(bindings.notes(), [format!("the override of test_norm (from {NORM}) is blank and counts as unset")]);
    }
    let bindings = initialize(&[], &config().override_with("test_norm", " ")).unwrap();
    assert_eq!(bindings.notes(), ["the override of test_norm (from the configuration) is blank and counts as unset"]);
    // A blank variable leaves the argument in force.
    let argument = config().override_with("test_norm", "reference");
    assert_eq!(bound(&initialize(&[(NORM, "")], &argument).unwrap()), "noop.reference.test_norm");
}

type Variables = Arc<Mutex<Vec<(String, String)>>>;

/// A runtime whose environment a test changes.
fn changing() -> (opweave_runtime::Runtime, Variables) {
    let variables = Variables::default();
    let read = Arc::clone(&variables);
    let environment = move || -> Environment { read.lock().unwrap().iter().cloned().collect() };
    let builder = opweave_runtime::Runtime::builder().declare(OPERATIONS).environment(environment);
    (SOLUTIONS.into_iter().fold(builder, opweave_runtime::RuntimeBuilder::solution).build(), variables)
}

/// Case B03: an override that is set later is reported, not half-applied.
#[test]
fn o10_the_environment_is_read_at_initialize_and_part_of_the_identity() {
    let (runtime, variables) = changing();
    let bindings = runtime.initialize(&config()).unwrap();
    assert!(bindings.environment_changes(&runtime.environment()).is_empty());

    variables.lock().unwrap().push((NORM.to_owned(), "reference".to_owned()));
    assert_eq!(bound(&bindings), "noop.native.test_norm.wide", "what was bound stays bound");
    let change = "OPWEAVE_OVERRIDE_TEST_NORM was unset at initialize and is `reference` now; \
                  what was read at initialize is in force";
    assert_eq!(bindings.environment_changes(&runtime.environment()), [change]);
    let late = bindings.prepared::<TestNorm>(NOOP, &norm()).unwrap();
    assert_eq!(late.records()[0].spec.name, "noop.native.test_norm.wide");

    let error = runtime.initialize(&config()).unwrap_err();
    let InitializeError::Conflict { difference } = &error else { panic!("{error}") };
    assert_eq!(difference, change);
    assert!(error.to_string().contains("start a new worker"), "{error}");

    variables.lock().unwrap().clear();
    assert!(Arc::ptr_eq(&bindings, &runtime.initialize(&config()).unwrap()), "and back again it is the same");
}

/// Case B03: runtimes with other overrides live side by side.
#[test]
fn runtimes_with_other_overrides_live_side_by_side() {
    let (plain, other) = (runtime(), builder(&[(NORM, "reference")]).build());
    let (a, b) = (plain.initialize(&config()).unwrap(), other.initialize(&config()).unwrap());
    assert_eq!((bound(&a).as_str(), bound(&b).as_str()), ("noop.native.test_norm.wide", "noop.reference.test_norm"));
}

#[test]
fn only_the_librarys_variables_are_kept() {
    let environment: Environment = [
        ("PATH".to_owned(), "/bin".to_owned()),
        (NORM.to_owned(), "native".to_owned()),
        ("OPWEAVE_SYNC".to_owned(), "1".to_owned()),
    ]
    .into_iter()
    .collect();
    assert_eq!(environment.overrides().collect::<Vec<_>>(), [(NORM, "native")]);
    assert!(environment.synchronises());
    let without: Environment = [("PATH".to_owned(), "/elsewhere".to_owned())].into_iter().collect();
    assert_eq!(environment.changes(&without).len(), 2, "PATH is none of ours");
}

#[test]
fn every_operation_of_the_workspace_has_a_variable_of_its_own() {
    let mut variables: Vec<String> =
        opweave_contract::ops::operations().map(|o| override_variable(o.operation)).collect();
    let count = variables.len();
    variables.sort();
    variables.dedup();
    assert_eq!(variables.len(), count);
    assert!(variables.contains(&override_variable(opweave_contract::ops::normalization::RmsNorm::NAME)));
}
