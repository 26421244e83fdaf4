// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Bindings: read-only, in key order, fixed for each operation asked for by name; plans are shared.

use std::sync::{Arc, Barrier};

use opweave_contract::{Erased, ImplementationDecl, OperationDecl, Promise};
use opweave_device::{DeviceId, DeviceKind};
use opweave_registry::{ExecutionMode, Registry, RegistryError, Verdict};
use opweave_runtime::{
    BindingKey, Config, ConfigError, Demands, InitializeError, PlanCache, Request, Runtime, Solution, StateError,
    Winner,
};
use opweave_tensor::DType;

use crate::noop_chain::norm;
use crate::support::kernel::{TestKernel, take_log};
use crate::support::operators::*;
use crate::support::world::{NOOP, SOLUTIONS, runtime};

const SECOND: DeviceId = DeviceId::new(DeviceKind::Noop, 1);

fn sized(hidden_size: usize) -> TestNormProblem {
    TestNormProblem::new(hidden_size, DType::F32)
}

#[test]
fn bindings_are_iterated_in_key_order() {
    let config = Config::new()
        .device(SECOND)
        .device(NOOP)
        .operations(["test_norm", "test_linear"])
        .request(Request::<TestNorm>::new(sized(128)))
        .request(Request::<TestNorm>::new(sized(64)));
    let bindings = runtime().initialize(&config).unwrap();
    let keys: Vec<&BindingKey> = bindings.iter().map(|b| b.key()).collect();
    let mut sorted = keys.clone();
    sorted.sort();
    assert_eq!(keys, sorted);
    let text: Vec<String> =
        keys.iter().map(|k| format!("{} {} {}", k.device, k.operation, k.problem.as_deref().unwrap_or("-"))).collect();
    assert_eq!(
        text[..4],
        [
            "noop:0 test_linear -",
            "noop:0 test_norm -",
            "noop:0 test_norm hidden_size=128 dtype=f32 weight_dtype=none mode=fast",
            "noop:0 test_norm hidden_size=64 dtype=f32 weight_dtype=none mode=fast",
        ]
    );
    assert_eq!(text.len(), 8);
}

#[test]
fn an_operation_by_name_is_fixed_and_a_request_is_prepared() {
    let config = Config::new().device(NOOP).operations(["test_norm"]).request(Request::<TestNorm>::new(norm()));
    let bindings = runtime().initialize(&config).unwrap();
    let [by_name, by_request] = bindings.iter().collect::<Vec<_>>()[..] else { panic!("{bindings:?}") };
    let (row, winner, considered) = by_name.implementation().unwrap();
    assert_eq!((row, winner), ("noop.native.test_norm.wide", &Winner::Rank));
    assert_eq!(considered.len(), 6);
    assert!(by_name.prepared::<TestNorm>().is_none() && by_name.request().is_none());
    assert!(by_request.implementation().is_none());
    let prepared = by_request.prepared::<TestNorm>().unwrap();
    assert!(Arc::ptr_eq(&prepared, &bindings.prepared::<TestNorm>(NOOP, &norm()).unwrap()));
    assert!(by_request.prepared::<TestLinear>().is_none());
    assert_eq!(prepared.generation(), bindings.registry().generation());
    let record = &prepared.records()[0];
    assert!(
        record.considered.iter().any(|c| matches!(c.verdict, Verdict::Chosen { .. }) && c.name == record.spec.name)
    );
    assert_eq!(record.because, "highest rank, then smallest name");
}

#[test]
fn a_further_problem_is_prepared_with_the_fixed_row_and_kept() {
    let config =
        Config::new().device(NOOP).operations(["test_norm"]).override_with("test_norm", "noop.native.test_norm.atomic");
    let bindings = runtime().initialize(&config).unwrap();
    take_log();
    let request = || Request::<TestNorm>::new(sized(4096));
    let prepared = bindings.prepare(NOOP, request()).unwrap();
    assert_eq!(prepared.records()[0].spec.name, "noop.native.test_norm.atomic");
    assert_eq!(take_log(), ["prepare noop.native.test_norm.atomic all"]);
    assert!(Arc::ptr_eq(&prepared, &bindings.prepare(NOOP, request()).unwrap()));
    assert!(Arc::ptr_eq(&prepared, &bindings.prepared::<TestNorm>(NOOP, &sized(4096)).unwrap()));
    assert!(take_log().is_empty(), "kept");
    assert_eq!(bindings.iter().count(), 1, "bindings stay as they were published");
}

#[test]
fn a_further_problem_that_the_fixed_row_cannot_do_is_a_selection_error() {
    let bindings = runtime().initialize(&Config::new().device(NOOP).operations(["test_norm"])).unwrap();
    let error = bindings.prepare(NOOP, Request::<TestNorm>::new(sized(63))).unwrap_err().to_string();
    assert!(error.contains("under override `noop.native.test_norm.wide` (fixed at initialize)"), "{error}");
    assert!(error.contains("noop.native.test_norm.wide: hidden_size = 63 is outside multiples of 8"), "{error}");
    let mut exact = sized(64);
    exact.mode = NormMode::Exact;
    let error = bindings.prepare(NOOP, Request::<TestNorm>::new(exact)).unwrap_err().to_string();
    assert!(error.contains("fulfils test_norm v1 (mode=fast), not test_norm v1 (mode=exact)"), "{error}");
    let illegal = bindings.prepare(NOOP, Request::<TestNorm>::new(sized(0))).unwrap_err();
    assert!(matches!(illegal, InitializeError::Problem(_)), "{illegal}");
}

#[test]
fn a_further_problem_needs_its_operation_by_name() {
    let config = Config::new().device(NOOP).operations(["test_linear"]).request(Request::<TestNorm>::new(norm()));
    let bindings = runtime().initialize(&config).unwrap();
    let error = bindings.prepare(NOOP, Request::<TestNorm>::new(sized(128))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "test_norm was not asked for by name on noop:0, so no further problem can be prepared; \
         by name there are test_linear"
    );
    let elsewhere = bindings.prepare(SECOND, Request::<TestLinear>::new(TestLinearProblem::new(8, 8, DType::F32)));
    let InitializeError::Config(ConfigError::NotByName { known, .. }) = elsewhere.unwrap_err() else { panic!() };
    assert!(known.is_empty());
}

#[test]
fn a_problem_has_one_binding_whatever_is_asked_of_it_later() {
    let bindings = runtime().initialize(&Config::new().device(NOOP).operations(["test_norm"])).unwrap();
    let request = Request::<TestNorm>::new(norm()).buckets("tokens", &[8]).unwrap();
    bindings.prepare(NOOP, request.clone()).unwrap();
    assert!(bindings.prepare(NOOP, request.clone()).is_ok());
    let others = [Request::<TestNorm>::new(norm()), Request::new(norm()).buckets("tokens", &[16]).unwrap()];
    for other in others {
        let error = bindings.prepare(NOOP, other).unwrap_err();
        assert!(matches!(error, InitializeError::Config(ConfigError::Twice { .. })), "{error}");
    }
    // A demand that the prepared row fulfils is no other request; one that it does not fulfil is.
    let strict = Demands { deterministic: true, batch_invariant: true };
    assert!(bindings.prepare(NOOP, request.demands(strict)).is_ok());
    let config =
        Config::new().device(NOOP).operations(["test_norm"]).override_with("test_norm", "noop.native.test_norm.atomic");
    let atomic = runtime().initialize(&config).unwrap();
    atomic.prepare(NOOP, Request::<TestNorm>::new(norm())).unwrap();
    for (deterministic, batch_invariant) in [(true, true), (true, false), (false, true)] {
        let demands = Demands { deterministic, batch_invariant };
        assert!(atomic.prepare(NOOP, Request::<TestNorm>::new(norm()).demands(demands)).is_err(), "{demands:?}");
    }
    // Every bucket's row has to fulfil them: here the first one's does not.
    let request = || Request::<TestNorm>::new(norm()).buckets("tokens", &[8]).unwrap();
    let mixed = runtime().initialize(&Config::new().device(NOOP).request(request())).unwrap();
    assert!(mixed.prepare(NOOP, request()).is_ok());
    assert!(mixed.prepare(NOOP, request().demands(strict)).is_err());
}

#[test]
fn the_same_problem_prepared_on_several_threads_is_one() {
    /// A plan takes long enough for every thread to have found nothing prepared before the first one is.
    fn slow(registry: &mut Registry) -> Result<(), RegistryError> {
        registry.register::<TestNorm, _>(Arc::new(TestKernel {
            plan: |_, _| {
                std::thread::sleep(std::time::Duration::from_millis(50));
                Ok(Default::default())
            },
            ..TestKernel::new(crate::registry_rules::row("noop.slow.test_norm", 0))
        }))?;
        Ok(())
    }
    static DECLARED: [OperationDecl; 1] = [OperationDecl {
        implementations: &[ImplementationDecl { name: "noop.slow.test_norm", solution: "noop.native", libraries: &[] }],
        ..OperationDecl::new(&Erased::<TestNorm>::NEW, &[])
    }];
    let solution = Solution { name: "noop.native", register: slow, probe: SOLUTIONS[0].probe };
    let runtime = Runtime::builder().declare(&DECLARED).environment(Default::default).solution(solution).build();
    let bindings = runtime.initialize(&Config::new().device(NOOP)).unwrap();
    let start = Barrier::new(8);
    let prepare = || {
        start.wait();
        bindings.prepare(NOOP, Request::<TestNorm>::new(norm())).unwrap()
    };
    let all: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(prepare)).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(all.iter().all(|p| Arc::ptr_eq(p, &all[0])), "each thread has an operator of its own");
    assert!(Arc::ptr_eq(&all[0], &bindings.prepared::<TestNorm>(NOOP, &norm()).unwrap()));
    assert_eq!(bindings.plans().len(), 1);
}

#[test]
fn a_call_outside_the_set_and_one_that_was_not_prepared_are_two_errors() {
    let config = Config::new()
        .device(NOOP)
        .request(Request::<TestNorm>::new(sized(128)))
        .request(Request::<TestNorm>::new(sized(64)))
        .operations(["test_attention"]);
    let bindings = runtime().initialize(&config).unwrap();
    let outside = bindings.prepared::<TestLinear>(NOOP, &TestLinearProblem::new(8, 8, DType::F32)).unwrap_err();
    assert_eq!(
        outside.to_string(),
        "test_linear on noop:0 is outside what initialize was asked for: test_attention on noop:0, test_norm on noop:0"
    );
    assert!(matches!(bindings.prepared::<TestNorm>(SECOND, &sized(64)), Err(StateError::Outside { .. })));

    let mut near = sized(128);
    near.weight_dtype = Some(DType::F32);
    let StateError::NotPrepared { nearest, problem, .. } = bindings.prepared::<TestNorm>(NOOP, &near).unwrap_err()
    else {
        panic!("not the other error");
    };
    assert_eq!(problem, "hidden_size=128 dtype=f32 weight_dtype=f32 mode=fast");
    assert_eq!(nearest[0], "hidden_size=128 dtype=f32 weight_dtype=none mode=fast", "the nearest first");
    assert_eq!(nearest.len(), 2);
    let cold = bindings.prepared::<TestAttention>(NOOP, &TestAttentionProblem::new(8, 2, 64, DType::F32));
    assert!(cold.unwrap_err().to_string().ends_with("nearest prepared: none"));
}

#[test]
fn promises_make_another_problem() {
    let bindings = runtime().initialize(&Config::new().device(NOOP).request(Request::<TestNorm>::new(norm()))).unwrap();
    let mut promised = norm();
    promised.promises = opweave_contract::Promises::all(Promise { alignment: 16, contiguous: false, constant: false });
    assert!(matches!(bindings.prepared::<TestNorm>(NOOP, &promised), Err(StateError::NotPrepared { .. })));
}

/// Thirty layers with one problem share one plan.
#[test]
fn thirty_layers_share_one_plan() {
    let kernel = TestKernel::<TestNorm>::new(crate::registry_rules::row("a", 0));
    let cache = PlanCache::default();
    assert!(cache.is_empty());
    let key = opweave_device::DeviceKey::noop(&[]);
    let context = |high, device| opweave_registry::PrepareContext {
        device,
        key: &key,
        bucket: opweave_registry::Bucket { dim: Some(0), low: 0, high },
        communicator: None,
    };
    take_log();
    let plan = |problem, high, device| cache.plan::<TestNorm>(&kernel, &problem, &context(high, device)).unwrap();
    let first = plan(norm(), 8, NOOP);
    for _ in 1..30 {
        assert!(Arc::ptr_eq(&first, &plan(norm(), 8, NOOP)));
    }
    assert_eq!((take_log().len(), cache.len()), (1, 1));
    // Another problem, bucket, device or row is another plan.
    for other in [plan(sized(128), 8, NOOP), plan(norm(), 9, NOOP), plan(norm(), 8, SECOND)] {
        assert!(!Arc::ptr_eq(&first, &other));
    }
    let renamed = TestKernel::<TestNorm>::new(crate::registry_rules::row("b", 0));
    assert!(!Arc::ptr_eq(&first, &cache.plan::<TestNorm>(&renamed, &norm(), &context(8, NOOP)).unwrap()));
    assert_eq!(cache.len(), 5);
}

#[test]
fn plans_for_a_communicator_are_not_kept_and_failures_neither() {
    struct Alone;
    impl opweave_device::Communicator for Alone {
        fn rank(&self) -> usize {
            0
        }
        fn world_size(&self) -> usize {
            1
        }
        fn raw(&self) -> *mut std::ffi::c_void {
            std::ptr::null_mut()
        }
    }
    let key = opweave_device::DeviceKey::noop(&[]);
    let bucket = opweave_registry::Bucket::ALL;
    let alone = opweave_registry::PrepareContext { device: NOOP, key: &key, bucket, communicator: Some(&Alone) };
    let cache = PlanCache::default();
    let kernel = TestKernel::<TestNorm>::new(crate::registry_rules::row("a", 0));
    let (a, b) = (cache.plan::<TestNorm>(&kernel, &norm(), &alone), cache.plan::<TestNorm>(&kernel, &norm(), &alone));
    assert!(!Arc::ptr_eq(&a.unwrap(), &b.unwrap()));
    let fails = TestKernel::<TestNorm> {
        plan: |_, _| Err(opweave_registry::PrepareError::Communicator { operation: "test_norm" }),
        ..TestKernel::new(crate::registry_rules::row("a", 0))
    };
    let context = opweave_registry::PrepareContext { communicator: None, ..alone };
    assert!(cache.plan::<TestNorm>(&fails, &norm(), &context).is_err());
    assert!(cache.is_empty());
}

#[test]
fn a_models_layers_and_buckets_share_plans_through_initialize() {
    let linear = TestLinearProblem::new(32, 16, DType::F32);
    let config =
        Config::new().device(NOOP).request(Request::<TestLinear>::new(linear).buckets("tokens", &[8, 64]).unwrap());
    let bindings = runtime().initialize(&config).unwrap();
    // Three buckets, three plans; a second model on a second device would add three more.
    assert_eq!(bindings.plans().len(), 3);
    let key = bindings.iter().next().unwrap().key();
    assert_eq!((key.mode, key.device), (ExecutionMode::Graph, NOOP));
}
