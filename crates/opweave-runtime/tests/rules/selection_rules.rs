// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Selection: the first failing test is the one reason; profile, rank and name decide among the rest.

use std::sync::Arc;

use opweave_contract::{DynProblem, Operator, Promise, Relation};
use opweave_device::{Capability, DeviceKey, DeviceKind, ImageTarget};
use opweave_registry::{
    Bucket, Domain, ExecutionMode, FrozenRegistry, KernelSpec, Linear, Needs, Registry, Reject, Verdict,
};
use opweave_runtime::{Demands, Override, OverrideSource, Query, Selection, SelectionError, Winner, select};
use opweave_tensor::DType;
use proptest::prelude::*;

use crate::registry_rules::{open, register, row};
use crate::support::kernel::TestKernel;
use crate::support::operators::*;

pub(crate) fn frozen(rows: impl IntoIterator<Item = KernelSpec>) -> Arc<FrozenRegistry> {
    let mut registry = open();
    for spec in rows {
        register(&mut registry, spec).unwrap();
    }
    registry.freeze()
}

pub(crate) fn problem() -> DynProblem {
    DynProblem::new::<TestNorm>(TestNormProblem::new(64, DType::F32))
}

pub(crate) fn query<'a>(problem: Option<&'a DynProblem>, key: &'a DeviceKey) -> Query<'a> {
    Query {
        operation: "test_norm",
        problem,
        bucket: Bucket::ALL,
        key,
        mode: ExecutionMode::Graph,
        demands: Demands::default(),
        overriding: None,
        profile: None,
    }
}

fn noop() -> DeviceKey {
    DeviceKey::noop(&["fast"])
}

fn name(selection: &Result<Selection<'_>, SelectionError>) -> String {
    selection.as_ref().unwrap().row.spec().name.clone()
}

fn native() -> Override {
    Override { value: "a".into(), source: OverrideSource::Argument }
}

/// What a row lacks, test by test in the order of selection.
const TESTS: [&str; 8] =
    ["contract", "device", "mode", "missing_library", "dimension", "residual", "determinism", "override"];

/// A row that fails the tests of `TESTS` from index `from` on and passes those before.
fn failing_from(from: usize) -> Arc<FrozenRegistry> {
    let fails = |test: &str| TESTS.iter().position(|t| *t == test).unwrap() >= from;
    let mut spec = row("b", 0);
    if fails("contract") {
        spec.contracts = vec![&EXACT];
    }
    if fails("device") {
        spec.device = DeviceKind::Cuda;
    }
    if fails("mode") {
        spec.modes = vec![ExecutionMode::Eager];
    }
    if fails("dimension") {
        spec.needs = Needs::default().with(Domain::Multiple("hidden_size", 128));
    }
    spec.deterministic = !fails("determinism");
    if !fails("override") {
        spec.name = "a".into();
    }
    let mut registry = open();
    if spec.name == "b" {
        register(&mut registry, row("a", 0)).unwrap();
    }
    if fails("missing_library") {
        let reason = Reject::MissingLibrary { library: "l".into(), reason: "not found".into() };
        registry.register_unavailable::<TestNorm>(spec, reason).unwrap();
    } else {
        let mut kernel = TestKernel::<TestNorm>::new(spec);
        if fails("residual") {
            kernel.residual = Some(|_, _, _| Err(Reject::Residual { reason: "told to".into() }));
        }
        registry.register::<TestNorm, _>(Arc::new(kernel)).unwrap();
    }
    registry.freeze()
}

#[test]
fn the_first_failing_test_is_the_one_reason() {
    let (problem, key, overriding) = (problem(), noop(), native());
    let demands = Demands { deterministic: true, batch_invariant: false };
    for (from, expected) in TESTS.iter().enumerate() {
        let registry = failing_from(from);
        let query = Query { demands, overriding: Some(&overriding), ..query(Some(&problem), &key) };
        let selection = select(&registry, &query).unwrap();
        let verdict = &selection.considered.iter().find(|c| c.name == "b").unwrap().verdict;
        let Verdict::Rejected(reason) = verdict else { panic!("{expected}: {verdict:?}") };
        assert_eq!(reason.kind(), *expected, "fails everything from {expected} on");
    }
    // And a row that fails nothing is chosen.
    let registry = failing_from(TESTS.len());
    assert_eq!(
        name(&select(&registry, &Query { demands, overriding: Some(&overriding), ..query(Some(&problem), &key) })),
        "a"
    );
}

#[test]
fn features_and_images_belong_to_the_device_test() {
    let image = |text: &str| text.parse::<ImageTarget>().unwrap();
    let mut spec = row("b", 0);
    spec.needs = Needs::default().features(&["fast", "huge"]);
    spec.modes = vec![ExecutionMode::Eager];
    let registry = frozen([spec.clone()]);
    let key = noop();
    let error = select(&registry, &query(None, &key)).unwrap_err();
    let Verdict::Rejected(reason) = &error.considered[0].verdict else { panic!() };
    assert_eq!(*reason, Reject::Feature { missing: vec!["huge".into()], has: vec!["fast".into()] });

    spec.device = DeviceKind::Cuda;
    spec.needs = Needs::default().images(&[image("sm_90a"), image("sm_100f")]);
    spec.modes = vec![ExecutionMode::Graph];
    let registry = frozen([spec]);
    for ((major, minor), runs) in [((9, 0), true), ((10, 3), true), ((8, 9), false), ((12, 0), false)] {
        let key = DeviceKey::cuda(major, minor);
        match select(&registry, &query(None, &key)) {
            Ok(_) => assert!(runs, "{major}.{minor}"),
            Err(e) => {
                let Verdict::Rejected(Reject::Target { device, images }) = &e.considered[0].verdict else {
                    panic!("{e}")
                };
                assert_eq!((*device, images.len(), runs), (Capability { major, minor }, 2, false));
                assert!(
                    e.to_string().contains(&format!("images for sm_90a, sm_100f do not run on {major}.{minor}")),
                    "{e}"
                );
            }
        }
    }
}

#[test]
fn needs_refuse_with_numbers() {
    let align = Promise { alignment: 16, contiguous: true, constant: false };
    let cases: Vec<(Domain, &str)> = vec![
        (Domain::Range("hidden_size", 1, 63), "hidden_size = 64 is outside 1..=63"),
        (Domain::Multiple("hidden_size", 48), "hidden_size = 64 is outside multiples of 48"),
        (Domain::Ints("hidden_size", vec![32, 128]), "hidden_size = 64 is outside [32, 128]"),
        (Domain::Words("mode", vec!["exact"]), "mode = fast is outside exact"),
        (
            Domain::DTypes(vec!["dtype", "weight_dtype"], vec![vec![Some(DType::BF16), None]]),
            "dtype, weight_dtype = (f32, none) is not covered; covers (bf16, none)",
        ),
        (
            Domain::Relation(Relation::SameOr("dtype", "mode", &[])),
            "dtype == mode does not hold for dtype = f32 and mode = fast",
        ),
        (
            Domain::Promise("input", align),
            "needs `input` aligned to 16 bytes and contiguous; the problem promises nothing",
        ),
        (
            Domain::SharedMemory(Linear { constant: 1, terms: vec![(768, "hidden_size")] }),
            "needs 49153 bytes of shared memory; the device has 49152",
        ),
    ];
    let (problem, key) = (problem(), noop());
    for (domain, expected) in cases {
        let spec = KernelSpec { needs: Needs::default().with(domain.clone()), ..row("a", 0) };
        let registry = frozen([spec]);
        let error = select(&registry, &query(Some(&problem), &key)).unwrap_err();
        let Verdict::Rejected(reason) = &error.considered[0].verdict else { panic!() };
        assert_eq!(reason.to_string(), expected, "{domain}");
        // Without a problem the same row is eligible: needs are asked of problems.
        assert!(select(&registry, &query(None, &key)).is_ok(), "{domain}");
    }
}

#[test]
fn needs_admit_what_is_promised_and_what_fits() {
    let mut promised = TestNormProblem::new(64, DType::F32);
    promised.promises = opweave_contract::Promises::all(Promise { alignment: 64, contiguous: true, constant: false });
    let problem = DynProblem::new::<TestNorm>(promised);
    let needs = Needs::default()
        .with(Domain::Promise("input", Promise { alignment: 16, contiguous: true, constant: false }))
        .with(Domain::SharedMemory(Linear { constant: 0, terms: vec![(768, "hidden_size")] }))
        .with(Domain::Range("hidden_size", 64, 64));
    let registry = frozen([KernelSpec { needs, ..row("a", 0) }]);
    assert!(select(&registry, &query(Some(&problem), &noop())).is_ok());
}

#[test]
fn a_promise_is_asked_of_tensors_that_are_there_and_an_element_aligns_itself() {
    let needs = |argument, alignment| {
        Needs::default().with(Domain::Promise(argument, Promise { alignment, contiguous: false, constant: false }))
    };
    let mut weighted = TestNormProblem::new(64, DType::BF16);
    weighted.weight_dtype = Some(DType::F32);
    let (plain, weighted) = (problem(), DynProblem::new::<TestNorm>(weighted));
    let cases = [
        ("weight", 64, &plain, true),
        ("weight", 64, &weighted, false),
        ("weight", 4, &weighted, true),
        ("input", 4, &plain, true),
        ("input", 4, &weighted, false),
        ("input", 2, &weighted, true),
    ];
    for (argument, alignment, problem, eligible) in cases {
        let registry = frozen([KernelSpec { needs: needs(argument, alignment), ..row("a", 0) }]);
        let chosen = select(&registry, &query(Some(problem), &noop())).is_ok();
        assert_eq!(chosen, eligible, "{argument} aligned to {alignment} for {problem}");
        let typed = problem.get::<TestNorm>().unwrap();
        assert_eq!(needs(argument, alignment).admits_problem::<TestNorm>(typed, &noop()).is_ok(), eligible);
    }
}

#[test]
fn a_domain_prints_and_gives_its_boundary_cases() {
    let needs = Needs::default()
        .features(&["avx2"])
        .images(&["sm_90a".parse().unwrap()])
        .library("cublasLt", "12.4")
        .with(Domain::Multiple("hidden_size", 8))
        .with(Domain::Range("groups", 1, 4))
        .with(Domain::Range("width", 2, u64::MAX))
        .with(Domain::Ints("head_dim", vec![64]))
        .with(Domain::SharedMemory(Linear { constant: 64, terms: vec![(4, "hidden_size")] }));
    assert_eq!(
        needs.to_string(),
        "device has avx2; images sm_90a; cublasLt >= 12.4; hidden_size % 8 == 0; 1 <= groups <= 4; width >= 2; \
         head_dim in [64]; shared memory 64 + 4*hidden_size bytes"
    );
    let of = |fact: &str| -> Vec<u64> {
        needs.boundaries().into_iter().filter(|(f, _)| *f == fact).map(|(_, v)| v).collect()
    };
    assert_eq!(of("hidden_size"), [7, 8, 9, 15, 16, 17]);
    assert_eq!(of("groups"), [0, 1, 2, 4, 5]);
    assert_eq!(of("width"), [1, 2, 3, u64::MAX]);
    assert_eq!(of("head_dim"), [63, 64, 65]);
    assert_eq!(Needs::default().to_string(), "");
    // Extreme domains overflow nowhere.
    let extreme = Needs::default()
        .with(Domain::Multiple("a", 0))
        .with(Domain::Multiple("a", u64::MAX))
        .with(Domain::Ints("a", vec![0, u64::MAX]));
    assert!(!extreme.boundaries().is_empty());
}

#[test]
fn the_highest_rank_wins_then_the_smallest_name() {
    let (problem, key) = (problem(), noop());
    let registry = frozen([row("c", 5), row("b", 5), row("d", 4), row("a", -1)]);
    let selection = select(&registry, &query(Some(&problem), &key)).unwrap();
    assert_eq!((selection.row.spec().name.as_str(), &selection.winner), ("b", &Winner::Rank));
    let verdicts: Vec<(String, Verdict)> = selection.considered.into_iter().map(|c| (c.name, c.verdict)).collect();
    let eligible = |rank| Verdict::Eligible { rank };
    let expected = [("a", eligible(-1)), ("b", Verdict::Chosen { rank: 5 }), ("c", eligible(5)), ("d", eligible(4))];
    assert_eq!(verdicts, expected.map(|(n, v)| (n.to_owned(), v)), "rows in ascending byte order; losers stay visible");
}

#[test]
fn a_rank_may_depend_on_problem_bucket_and_device() {
    let mut registry = open();
    register(&mut registry, row("a", 0)).unwrap();
    registry
        .register::<TestNorm, _>(Arc::new(TestKernel {
            rank: Some(
                |p: &TestNormProblem, bucket, key| {
                    if p.hidden_size == 64 && bucket.high <= 8 && key.has("fast") { 1 } else { -1 }
                },
            ),
            ..TestKernel::new(row("b", 99))
        }))
        .unwrap();
    let registry = registry.freeze();
    let small = Bucket { dim: Some(0), low: 0, high: 8 };
    let (narrow, wide) = (problem(), DynProblem::new::<TestNorm>(TestNormProblem::new(65, DType::F32)));
    let (fast, slow) = (noop(), DeviceKey::noop(&[]));
    let chosen = |problem, bucket, key| name(&select(&registry, &Query { bucket, ..query(Some(problem), key) }));
    assert_eq!(chosen(&narrow, small, &fast), "b");
    assert_eq!(chosen(&narrow, Bucket::ALL, &fast), "a");
    assert_eq!(chosen(&wide, small, &fast), "a");
    assert_eq!(chosen(&narrow, small, &slow), "a");
}

#[test]
fn determinism_is_demanded_apart_from_batch_invariance() {
    let registry = frozen([
        KernelSpec { deterministic: false, batch_invariant: false, ..row("a", 9) },
        KernelSpec { batch_invariant: false, ..row("b", 5) },
        row("c", 1),
    ]);
    let (problem, key) = (problem(), noop());
    let chosen = |deterministic, batch_invariant| {
        let demands = Demands { deterministic, batch_invariant };
        name(&select(&registry, &Query { demands, ..query(Some(&problem), &key) }))
    };
    assert_eq!([chosen(false, false), chosen(true, false), chosen(false, true)], ["a", "b", "c"]);
}

#[test]
fn none_eligible_is_an_error_that_carries_everything() {
    let registry = frozen([KernelSpec { modes: vec![ExecutionMode::Eager], ..row("b", 0) }, row("a", 0)]);
    let (problem, key) = (problem(), noop());
    let overriding =
        Override { value: "b".into(), source: OverrideSource::Environment("OPWEAVE_OVERRIDE_TEST_NORM".into()) };
    let query = Query {
        bucket: Bucket { dim: Some(0), low: 9, high: 64 },
        overriding: Some(&overriding),
        ..query(Some(&problem), &key)
    };
    let error = select(&registry, &query).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no implementation of test_norm applies to [hidden_size=64 dtype=f32 weight_dtype=none mode=fast] for bucket \
         9..=64 on noop+fast in graph mode under override `b` (from OPWEAVE_OVERRIDE_TEST_NORM)\n  \
         a: override `b` (from OPWEAVE_OVERRIDE_TEST_NORM) names another\n  b: runs in mode eager, not graph"
    );
}

#[test]
fn an_empty_registry_says_so() {
    let key = noop();
    let error = select(&frozen([]), &query(None, &key)).unwrap_err();
    assert!(error.registry_is_empty && error.to_string().ends_with("the registry is empty"), "{error}");
    let mut registry = open();
    let spec = KernelSpec::new("x", "native", DeviceKind::Noop, TestLinear::CONTRACTS);
    registry.register::<TestLinear, _>(Arc::new(TestKernel::new(spec))).unwrap();
    let error = select(&registry.freeze(), &query(None, &key)).unwrap_err();
    assert!(!error.registry_is_empty && error.to_string().ends_with("no row is registered for it"), "{error}");
}

/// Case B16: there is one policy. What is asked of a device runs there or is an error with the reason.
#[test]
fn b16_nothing_falls_back_to_another_device_or_row() {
    let mut registry = open();
    let reason = Reject::NotBuilt { kernel: "test_norm".into(), build: "cargo xtask kernels build" };
    let cuda = KernelSpec { device: DeviceKind::Cuda, ..row("cuda.native.test_norm", 0) };
    registry.register_unavailable::<TestNorm>(cuda, reason).unwrap();
    let cpu = KernelSpec { device: DeviceKind::Cpu, ..row("cpu.reference.test_norm", -100) };
    register(&mut registry, cpu).unwrap();
    let registry = registry.freeze();
    let (problem, key) = (problem(), DeviceKey::cuda(9, 0));
    let error = select(&registry, &query(Some(&problem), &key)).unwrap_err().to_string();
    assert!(error.contains("cpu.reference.test_norm: runs on cpu, not cuda"), "{error}");
    assert!(error.contains("cuda.native.test_norm: not built: no image of `test_norm`"), "{error}");
}

fn any_rows() -> impl Strategy<Value = Vec<KernelSpec>> {
    let one = (0_usize..26, -3_i32..4, any::<bool>(), any::<bool>(), 0_usize..3);
    prop::collection::vec(one, 0..8).prop_map(|rows| {
        let mut specs: Vec<KernelSpec> = rows
            .into_iter()
            .map(|(letter, priority, deterministic, graph, solution)| KernelSpec {
                deterministic,
                solution: ["native", "vendor", "reference"][solution].to_owned(),
                modes: if graph {
                    vec![ExecutionMode::Graph, ExecutionMode::Eager]
                } else {
                    vec![ExecutionMode::Eager]
                },
                ..row(&char::from(b'a' + letter as u8).to_string(), priority)
            })
            .collect();
        specs.sort_by(|a, b| a.name.cmp(&b.name));
        specs.dedup_by(|a, b| a.name == b.name);
        specs
    })
}

proptest! {
    /// The order of registration does not matter, and the choice is what a plain search finds.
    #[test]
    fn registration_order_does_not_matter(
        (rows, shuffled) in any_rows().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
        deterministic in any::<bool>(),
        by_solution in prop::option::of(0_usize..3),
    ) {
        let (problem, key) = (problem(), noop());
        let overriding = by_solution.map(|i| Override {
            value: ["native", "vendor", "noop.reference"][i].to_owned(),
            source: OverrideSource::Argument,
        });
        let demands = Demands { deterministic, batch_invariant: false };
        let query = Query { demands, overriding: overriding.as_ref(), ..query(Some(&problem), &key) };
        let (ordered, other) = (frozen(rows.clone()), frozen(shuffled));
        let describe = |registry: &FrozenRegistry| match select(registry, &query) {
            Ok(s) => (Some(s.row.spec().name.clone()), s.considered, String::new()),
            Err(e) => (None, e.considered.clone(), e.to_string()),
        };
        let first = describe(&ordered);
        prop_assert_eq!(&first, &describe(&other));
        let solution = by_solution.map(|i| ["native", "vendor", "reference"][i]);
        let mut eligible: Vec<&KernelSpec> = rows
            .iter()
            .filter(|s| s.modes.contains(&ExecutionMode::Graph))
            .filter(|s| s.deterministic || !deterministic)
            .filter(|s| solution.is_none_or(|wanted| s.solution == wanted))
            .collect();
        eligible.sort_by_key(|s| (-s.priority, s.name.clone()));
        prop_assert_eq!(first.0, eligible.first().map(|s| s.name.clone()));
    }
}

#[test]
fn an_operators_rows_are_not_another_operators() {
    let mut registry: Registry = open();
    let linear = KernelSpec { priority: 50, ..KernelSpec::new("a", "native", DeviceKind::Noop, TestLinear::CONTRACTS) };
    registry.register::<TestLinear, _>(Arc::new(TestKernel::new(linear))).unwrap();
    register(&mut registry, row("b", 0)).unwrap();
    let selection_of = registry.freeze();
    let (problem, key) = (problem(), noop());
    let selection = select(&selection_of, &query(Some(&problem), &key)).unwrap();
    assert_eq!((selection.row.operation(), selection.considered.len()), (TestNorm::NAME, 1));
}
