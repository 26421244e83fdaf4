// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Initialize: everything or nothing, once, and the same again for the same configuration.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use opweave_contract::Bounds;
use opweave_device::{Backend, BackendState, DeviceId, DeviceKind, Platform, noop};
use opweave_registry::{CatalogError, ExecutionMode, Registry, RegistryError};
use opweave_runtime::{
    BindingKey, Config, ConfigError, Demands, InitializeError, Request, Runtime, Solution, StateError,
};
use opweave_tensor::DType;

use crate::noop_chain::norm;
use crate::support::kernel::{TestKernel, take_log};
use crate::support::operators::*;
use crate::support::world::{NOOP, OPERATIONS, SOLUTIONS, builder, runtime};

const ALL: [&str; 3] = ["test_attention", "test_linear", "test_norm"];

fn on_noop() -> Config {
    Config::new().device(NOOP)
}

fn conflict(error: InitializeError) -> String {
    match error {
        InitializeError::Conflict { difference } => difference,
        other => panic!("no conflict: {other}"),
    }
}

#[test]
fn the_same_configuration_again_gives_the_identical_bindings_and_selects_nothing() {
    let runtime = runtime();
    let request = || Request::<TestNorm>::new(norm()).buckets("tokens", &[8]).unwrap();
    let linear = || Request::<TestLinear>::new(TestLinearProblem::new(32, 16, DType::F32));
    let first = runtime.initialize(&on_noop().request(request()).request(linear())).unwrap();
    assert!(!take_log().is_empty());
    let again = [
        on_noop().request(request()).request(linear()),
        on_noop().request(linear()).request(request()),
        on_noop().device(NOOP).request(request()).request(linear()).request(request()),
        on_noop().request(request()).request(linear()).mode(ExecutionMode::Graph),
        on_noop().request(request()).request(linear()).override_with("test_norm", "  "),
    ];
    for (i, config) in again.iter().enumerate() {
        assert!(Arc::ptr_eq(&first, &runtime.initialize(config).unwrap()), "case {i}");
    }
    assert!(take_log().is_empty(), "nothing was prepared again");
    assert!(Arc::ptr_eq(&first, &runtime.bindings().unwrap()));
}

#[test]
fn another_configuration_is_a_conflict_that_says_what_differs_before_anything_else() {
    let runtime = runtime();
    runtime.initialize(&on_noop().operations(["test_norm"])).unwrap();
    let cases = [
        (on_noop().operations(["test_linear"]), "operations"),
        (on_noop().device(DeviceId::new(DeviceKind::Noop, 1)).operations(["test_norm"]), "devices"),
        (on_noop().operations(["test_norm"]).mode(ExecutionMode::Eager), "mode"),
        (on_noop().operations(["test_norm"]).override_with("test_norm", "reference"), "overrides"),
        (on_noop().operations(["test_norm"]).request(Request::<TestNorm>::new(norm())), "requests"),
        (
            on_noop().operations(["test_norm"]).demands(Demands { deterministic: true, batch_invariant: false }),
            "demands",
        ),
        // An unknown operation and an empty set would be value errors, had there been no success before.
        (on_noop().operations(["no_such_operation"]), "operations"),
        (on_noop().operations(Vec::<String>::new()), "operations"),
    ];
    for (config, expected) in cases {
        assert_eq!(conflict(runtime.initialize(&config).unwrap_err()), expected);
    }
}

#[test]
fn operations_omitted_are_the_whole_catalog_and_equal_to_all_of_it() {
    let runtime = runtime();
    let bindings = runtime.initialize(&on_noop()).unwrap();
    let operations: Vec<&str> = bindings.iter().map(|b| b.key().operation).collect();
    assert_eq!(operations, ALL);
    let listed = on_noop().operations(["test_norm", "test_attention"]).operations(["test_linear", "test_norm"]);
    assert!(Arc::ptr_eq(&bindings, &runtime.initialize(&listed).unwrap()));
}

static LOADED: AtomicUsize = AtomicUsize::new(0);

/// Counts what is loaded, and fails when it is told to.
fn counting(registry: &mut Registry) -> Result<(), RegistryError> {
    LOADED.fetch_add(1, Ordering::Relaxed);
    (SOLUTIONS[0].register)(registry)
}

#[test]
fn empty_sets_and_unknown_operations_are_value_errors_before_anything_is_loaded() {
    let solution = Solution { name: "noop.native", register: counting, probe: SOLUTIONS[0].probe };
    let runtime = Runtime::builder().declare(OPERATIONS).environment(Default::default).solution(solution).build();
    let error = runtime.initialize(&on_noop().operations(Vec::<String>::new())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the set of operations is empty; leave it out for all of test_attention, test_linear, test_norm"
    );
    let error = runtime.initialize(&on_noop().operations(["test_norm", "test_lienar"])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "operation `test_lienar` is unknown; expected one of test_attention, test_linear, test_norm; \
         did you mean `test_linear`?"
    );
    assert_eq!(LOADED.load(Ordering::Relaxed), 0);
    assert!(runtime.bindings().is_none());
}

#[test]
fn every_request_without_a_row_is_listed_and_nothing_is_published() {
    let runtime = runtime();
    let mut odd = TestAttentionProblem::new(8, 2, 80, DType::F32);
    odd.bounds = Bounds::default().with(0, 4);
    let config = on_noop()
        .override_with("test_attention", "native")
        .override_with("test_norm", "vendor")
        .operations(["test_norm", "test_linear"])
        .request(Request::<TestNorm>::new(norm()).buckets("tokens", &[8]).unwrap())
        .request(Request::<TestAttention>::new(odd));
    let error = runtime.initialize(&config).unwrap_err();
    let InitializeError::Selection(errors) = &error else { panic!("{error}") };
    let listed: Vec<(&str, String)> = errors.iter().map(|e| (e.operation.as_str(), e.bucket.to_string())).collect();
    let expected = [("test_norm", "all"), ("test_attention", "all"), ("test_norm", "0..=8"), ("test_norm", "9..")];
    assert_eq!(listed, expected.map(|(o, b)| (o, b.to_owned())), "{error}");
    assert!(error.to_string().contains("head_dim = 80 is outside [64, 128, 256]"), "{error}");
    assert!(runtime.bindings().is_none(), "all or nothing");
    // A later attempt may succeed.
    assert!(runtime.initialize(&on_noop().operations(["test_norm"])).is_ok());
}

#[test]
fn a_failed_preparation_publishes_nothing() {
    let runtime = runtime();
    let request = || Request::<TestNorm>::new(norm());
    let config = on_noop().operations(["test_linear"]).request(request()).override_with("test_norm", "broken");
    assert!(matches!(runtime.initialize(&config).unwrap_err(), InitializeError::Prepare { .. }));
    assert!(runtime.bindings().is_none());
    assert!(runtime.initialize(&on_noop().request(request())).is_ok());
}

#[test]
fn a_problem_that_no_call_could_satisfy_is_refused_before_anything_is_loaded() {
    let mut illegal = norm();
    illegal.dtype = DType::F64;
    let error = runtime().initialize(&on_noop().request(Request::<TestNorm>::new(illegal))).unwrap_err();
    assert_eq!(error.to_string(), "test_norm: fact `dtype` is `f64`; expected f32, f16, bf16");
}

#[test]
fn two_requests_for_one_problem_are_refused_and_equal_ones_are_one() {
    let request = |ends: &[usize]| Request::<TestNorm>::new(norm()).buckets("tokens", ends).unwrap();
    let error = runtime().initialize(&on_noop().request(request(&[8])).request(request(&[8, 64]))).unwrap_err();
    assert!(matches!(error, InitializeError::Config(ConfigError::Twice { operation: "test_norm", .. })), "{error}");
    let strict = Demands { deterministic: true, batch_invariant: false };
    let demanding = on_noop().request(request(&[8])).request(request(&[8]).demands(strict));
    assert!(runtime().initialize(&demanding).is_err());
    let bindings = runtime().initialize(&on_noop().request(request(&[8])).request(request(&[8]))).unwrap();
    assert_eq!(bindings.iter().count(), 1);
}

/// Case B15: what was asked for explicitly fails with the reason that the list shows.
#[test]
fn b15_a_device_that_is_not_there_is_an_error_with_its_reason() {
    let cuda = DeviceId::new(DeviceKind::Cuda, 0);
    let states = [
        (BackendState::Absent("libcuda.so.1: not found".into()), "cuda is absent: libcuda.so.1: not found"),
        (BackendState::Broken("undefined symbol: cuInit".into()), "cuda is broken: undefined symbol: cuInit"),
        (BackendState::NoDevice("no device is visible".into()), "cuda is no device: no device is visible"),
    ];
    for (state, reason) in states {
        let platform = Platform::new(vec![noop::backend(1, &[]), Backend { kind: DeviceKind::Cuda, state }]);
        let runtime = builder(&[]).platform(platform).build();
        let error = runtime.initialize(&Config::new().device(cuda).operations(["test_norm"])).unwrap_err();
        assert_eq!(error.to_string(), format!("device cuda:0 cannot be used: {reason}"));
        assert!(runtime.initialize(&on_noop()).is_ok(), "the others work");
    }
    let error = runtime().initialize(&Config::new()).unwrap_err().to_string();
    assert!(error.contains("device cpu cannot be used: cpu is not compiled"), "the default is the cpu: {error}");
}

#[test]
fn the_mode_defaults_to_the_devices_graph_mode_if_it_has_one() {
    let mode = |config: &Config, graphs| {
        let mut backend = noop::backend(1, &[]);
        if let BackendState::Present(devices) = &mut backend.state {
            devices[0].graphs = graphs;
        }
        let bindings = builder(&[]).platform(Platform::new(vec![backend])).build().initialize(config).unwrap();
        let binding = bindings.iter().next().unwrap();
        (binding.key().mode, binding.implementation().unwrap().0.to_owned())
    };
    let norm = on_noop().operations(["test_norm"]);
    let (graph, eager) = (ExecutionMode::Graph, ExecutionMode::Eager);
    assert_eq!(mode(&norm, true), (graph, "noop.native.test_norm.wide".into()));
    assert_eq!(mode(&norm, false), (eager, "noop.native.test_norm.eager".into()));
    assert_eq!(mode(&norm.clone().mode(eager), true).0, eager);
    assert_eq!(mode(&norm.mode(graph), false).0, graph);
}

#[test]
fn of_several_threads_one_does_the_work_and_equal_configurations_share() {
    static PREPARED: AtomicUsize = AtomicUsize::new(0);
    fn slow(registry: &mut Registry) -> Result<(), RegistryError> {
        let spec =
            opweave_registry::KernelSpec::new("noop.native.test_norm.wide", "native", DeviceKind::Noop, &[&FAST]);
        registry.register::<TestNorm, _>(Arc::new(TestKernel {
            plan: |_, _| {
                std::thread::sleep(std::time::Duration::from_millis(30));
                PREPARED.fetch_add(1, Ordering::Relaxed);
                Ok(Default::default())
            },
            ..TestKernel::new(spec)
        }))?;
        Ok(())
    }
    let solution = Solution { name: "noop.slow", register: slow, probe: SOLUTIONS[0].probe };
    let declared: &'static [opweave_contract::OperationDecl] = Box::leak(Box::new([opweave_contract::OperationDecl {
        implementations: &[opweave_contract::ImplementationDecl {
            name: "noop.native.test_norm.wide",
            solution: "noop.native",
            libraries: &[],
        }],
        ..OPERATIONS[0]
    }]));
    let runtime = Runtime::builder().declare(declared).environment(Default::default).solution(solution).build();
    let start = Barrier::new(6);
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|i| {
                let (runtime, start) = (&runtime, &start);
                scope.spawn(move || {
                    let mut problem = norm();
                    problem.hidden_size = if i % 3 == 0 { 128 } else { 64 };
                    start.wait();
                    (i, runtime.initialize(&on_noop().request(Request::<TestNorm>::new(problem))))
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    let published = runtime.bindings().unwrap();
    let winners: Vec<usize> = results.iter().filter(|(_, r)| r.is_ok()).map(|(i, _)| *i).collect();
    for (i, result) in &results {
        match result {
            Ok(bindings) => assert!(Arc::ptr_eq(bindings, &published), "thread {i} has bindings of its own"),
            Err(InitializeError::Conflict { difference }) => assert_eq!(difference, "requests"),
            Err(other) => panic!("thread {i}: {other}"),
        }
    }
    assert!(winners.len() == 2 || winners.len() == 4, "{winners:?}");
    assert_eq!(PREPARED.load(Ordering::Relaxed), 1, "one thread prepared, once");
}

#[test]
fn a_solution_that_fails_to_register_is_named_and_the_next_attempt_starts_afresh() {
    static FAILS: AtomicUsize = AtomicUsize::new(1);
    fn sometimes(registry: &mut Registry) -> Result<(), RegistryError> {
        match FAILS.swap(0, Ordering::Relaxed) {
            0 => (SOLUTIONS[0].register)(registry),
            _ => Err(RegistryError::Undeclared { name: "x".into(), operation: "y".into() }),
        }
    }
    let mut solutions = SOLUTIONS;
    solutions[0].register = sometimes;
    let empty = Runtime::builder().declare(OPERATIONS).environment(Default::default);
    let runtime = solutions.into_iter().fold(empty, opweave_runtime::RuntimeBuilder::solution).build();
    let error = runtime.initialize(&on_noop()).unwrap_err().to_string();
    assert_eq!(error, "solution noop.native failed to register: operation `y` of `x` is not declared");
    assert!(runtime.initialize(&on_noop()).is_ok());
}

#[test]
fn a_catalog_that_contradicts_itself_is_an_error() {
    fn forgets(_: &mut Registry) -> Result<(), RegistryError> {
        Ok(())
    }
    let mut solutions = SOLUTIONS;
    solutions[2].register = forgets;
    let empty = Runtime::builder().declare(OPERATIONS).environment(Default::default);
    let runtime = solutions.into_iter().fold(empty, opweave_runtime::RuntimeBuilder::solution).build();
    let error = runtime.initialize(&on_noop()).unwrap_err();
    assert!(matches!(error, InitializeError::Catalog(CatalogError::NotRegistered { .. })), "{error}");
    let twice = builder(&[]).declare(OPERATIONS).build();
    let error = twice.initialize(&on_noop()).unwrap_err();
    assert!(matches!(error, InitializeError::Declaration(RegistryError::OperationTwice { .. })), "{error}");
}

/// Case B18: a list is data. Nothing is probed and nothing registers until somebody asks.
#[test]
fn b18_listing_operations_loads_nothing() {
    fn never(_: &mut Registry) -> Result<(), RegistryError> {
        panic!("registered")
    }
    fn nobody() -> Backend {
        panic!("probed")
    }
    let solution = Solution { name: "noop.never", register: never, probe: nobody };
    let runtime = Runtime::builder().declare(OPERATIONS).solution(solution).build();
    assert_eq!(runtime.operations(), ALL);
    assert_eq!(runtime.operation("test_norm").unwrap().implementations.len(), 7);
    assert!(runtime.operation("nothing").is_none() && runtime.bindings().is_none());
    assert_eq!(format!("{runtime:?}"), "runtime of [solution noop.never]");
}

/// The process-wide runtime: the only test that touches it.
#[test]
fn the_process_wide_runtime_is_one_runtime() {
    let early = opweave_runtime::bindings("test_norm").map(|_| ()).unwrap_err();
    assert_eq!(early, StateError::NotInitialized { operation: "test_norm" });
    assert_eq!(early.to_string(), "test_norm was called before initialize");
    let config = on_noop().operations(["test_norm"]);
    let first = opweave_runtime::initialize(runtime, &config).unwrap();
    let again = opweave_runtime::initialize(|| panic!("made twice"), &config).unwrap();
    assert!(Arc::ptr_eq(&first, &again));
    assert!(Arc::ptr_eq(&first, opweave_runtime::bindings("test_norm").unwrap()));
    let error = opweave_runtime::initialize(runtime, &on_noop()).unwrap_err();
    assert_eq!(conflict(error), "operations");
    let outside = opweave_runtime::bindings("test_linear").unwrap();
    let problem = TestLinearProblem::new(32, 16, DType::F32);
    assert!(matches!(outside.prepared::<TestLinear>(NOOP, &problem), Err(StateError::Outside { .. })));
    let key = BindingKey { device: NOOP, operation: "test_norm", problem: None, mode: ExecutionMode::Graph };
    assert!(first.get(&key).is_some());
}
