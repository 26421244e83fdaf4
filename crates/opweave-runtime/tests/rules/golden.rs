// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The golden table: what would run where, for machines that are not here, across vendors, reviewed as text.
//!
//! The rows are the test's own, of the kinds that solutions have: machine code and PTX for several architectures, one
//! with a need for shared memory, a vendor's library, instruction sets of a CPU, NPUs by their makers' names.

use std::fmt::Write as _;
use std::sync::Arc;

use opweave_contract::{DynProblem, Operator, Promise};
use opweave_device::{DeviceKey, DeviceKind};
use opweave_registry::{
    Buckets, Domain, ExecutionMode, FrozenRegistry, KernelSpec, Linear, Needs, Registry, Reject, Verdict,
};
use opweave_runtime::{Demands, explain};
use opweave_tensor::DType;

use crate::registry_rules::open;
use crate::support::kernel::TestKernel;
use crate::support::operators::*;

const DEVICES: [&str; 11] = [
    "cpu:x86_64+avx2+f16c+fma",
    "cpu:x86_64",
    "cuda:8.0",
    "cuda:8.6",
    "cuda:8.9",
    "cuda:9.0",
    "cuda:10.0",
    "cuda:10.3",
    "cuda:12.0",
    "npu:ascend910b",
    "npu:ascend910_93",
];

fn images(targets: &[&str]) -> Needs {
    Needs::default().images(&targets.iter().map(|t| t.parse().unwrap()).collect::<Vec<_>>())
}

fn spec<O: Operator>(name: &str, priority: i32, needs: Needs) -> KernelSpec {
    // The test's names are written as solutions write theirs: device, solution, operation, variant.
    let words: Vec<&str> = name.split('.').collect();
    let device: DeviceKind = words[0].parse().unwrap();
    KernelSpec {
        priority,
        needs,
        variant: words.get(3).map(|v| (*v).to_owned()),
        ..KernelSpec::new(name, words[1], device, O::CONTRACTS)
    }
}

fn add<O: Operator>(registry: &mut Registry, kernel: TestKernel<O>) {
    registry.register::<O, _>(Arc::new(kernel)).unwrap();
}

/// Bytes of one row in f32, staged in shared memory.
fn staged_row() -> Domain {
    Domain::SharedMemory(Linear { constant: 1024, terms: vec![(4, "hidden_size")] })
}

fn norms(registry: &mut Registry) {
    let halves = || Domain::DTypes(vec!["dtype"], vec![vec![Some(DType::F16)], vec![Some(DType::BF16)]]);
    let aligned = || Domain::Promise("input", Promise { alignment: 16, contiguous: false, constant: false });
    let row = |name, priority, needs| TestKernel::<TestNorm>::new(spec::<TestNorm>(name, priority, needs));
    add(registry, row("cuda.native.test_norm.general", 10, images(&["sm_80", "compute_80"])));
    add(registry, row("cuda.native.test_norm.staged", 20, images(&["sm_80", "compute_80"]).with(staged_row())));
    let hopper = images(&["sm_90a"]).with(halves()).with(Domain::Multiple("hidden_size", 8)).with(aligned());
    add(
        registry,
        TestKernel {
            // A cluster needs rows enough to fill it.
            rank: Some(|_, bucket, _| if bucket.low > 64 { 40 } else { 5 }),
            ..row("cuda.native.test_norm.sm90", 40, hopper)
        },
    );
    add(registry, row("cuda.native.test_norm.sm100", 40, images(&["sm_100f"]).with(halves()).with(staged_row())));
    let avx2 = Needs::default().features(&["avx2", "fma", "f16c"]);
    add(registry, row("cpu.native.test_norm.avx2", 20, avx2));
    add(registry, row("cpu.native.test_norm.portable", 10, Needs::default()));
    add(registry, row("cpu.reference.test_norm", -100, Needs::default()));
    let aclnn = Needs::default().library("CANN", "8.0").with(Domain::Words("weight_dtype", vec!["f32", "bf16"]));
    add(registry, row("npu.aclnn.test_norm", 10, aclnn));
    let reason = Reject::NotBuilt { kernel: "test_norm".into(), build: "cargo xtask kernels build" };
    let ascendc = spec::<TestNorm>("npu.ascendc.test_norm", 30, Needs::default());
    registry.register_unavailable::<TestNorm>(ascendc, reason).unwrap();
}

fn linears(registry: &mut Registry) {
    let row = |name, priority, needs| TestKernel::<TestLinear>::new(spec::<TestLinear>(name, priority, needs));
    let lt = Needs::default().library("cublasLt", "12.0").with(Domain::Multiple("in_features", 8));
    add(registry, row("cuda.cublaslt.test_linear", 20, lt));
    add(
        registry,
        TestKernel {
            // One row is a product with a vector; a few are still bound by the weight.
            rank: Some(|_, bucket, _| if bucket.high <= 8 { 50 } else { 0 }),
            residual: Some(|_: &TestLinearProblem, bucket, _| match bucket.high {
                0..=64 => Ok(()),
                _ => Err(Reject::Residual { reason: format!("{bucket} rows at a time are more than its 64") }),
            }),
            ..row("cuda.native.test_linear.skinny", 0, images(&["sm_80", "compute_80"]))
        },
    );
    let split = KernelSpec {
        deterministic: false,
        batch_invariant: false,
        ..spec::<TestLinear>("cuda.native.test_linear.splitk", 30, images(&["sm_90a", "sm_100f", "sm_120f"]))
    };
    add(registry, TestKernel::<TestLinear>::new(split));
    add(registry, row("cpu.gemm.test_linear", 10, Needs::default()));
    add(registry, row("cpu.reference.test_linear", -100, Needs::default()));
    let reason = Reject::Version { library: "CANN".into(), needs: "8.2".into(), has: "8.0".into() };
    let aclnn = spec::<TestLinear>("npu.aclnn.test_linear", 10, Needs::default().library("CANN", "8.2"));
    registry.register_unavailable::<TestLinear>(aclnn, reason).unwrap();
}

fn registry() -> Arc<FrozenRegistry> {
    let mut registry = open();
    norms(&mut registry);
    linears(&mut registry);
    registry.freeze()
}

/// One line for each problem, bucket and device: what runs, and why the other rows of that kind of device do not.
fn table(registry: &FrozenRegistry, problems: &[(&str, DynProblem, Buckets, Demands)]) -> String {
    let mut text = String::new();
    for (title, problem, buckets, demands) in problems {
        writeln!(text, "{title}: {problem}").unwrap();
        for device in DEVICES {
            let key: DeviceKey = device.parse().unwrap();
            let mode = ExecutionMode::Graph;
            let operation = problem.operation();
            let all = explain(registry, operation, Some(problem), buckets, &key, mode, *demands, None, None);
            for explanation in all {
                let runs = explanation.outcome.as_ref().map_or("nothing", |(row, _)| row.as_str());
                writeln!(text, "  {device:<24} {:<8} {runs}", explanation.bucket).unwrap();
                for row in &explanation.considered {
                    let line = match &row.verdict {
                        Verdict::Chosen { .. } | Verdict::Rejected(Reject::Device { .. }) => continue,
                        Verdict::Eligible { rank } => format!("eligible, rank {rank}"),
                        Verdict::Rejected(reason) => reason.to_string(),
                    };
                    writeln!(text, "      {}: {line}", row.name).unwrap();
                }
            }
        }
    }
    text
}

#[test]
fn the_golden_table_of_norms() {
    let registry = registry();
    let norm = |problem| DynProblem::new::<TestNorm>(problem);
    let buckets = Buckets::new(TestNorm::signature(), "tokens", &[64]).unwrap();
    let plain = TestNormProblem::new(4096, DType::BF16);
    let mut promised = plain;
    promised.promises = opweave_contract::Promises::all(Promise { alignment: 16, contiguous: false, constant: false });
    promised.weight_dtype = Some(DType::BF16);
    let mut wide = TestNormProblem::new(32768, DType::F32);
    wide.weight_dtype = Some(DType::F32);
    wide.mode = NormMode::Exact;
    let none = Demands::default();
    let text = table(
        &registry,
        &[
            ("aligned, bf16", norm(promised), buckets, none),
            ("nothing promised, bf16", norm(plain), Buckets::none(), none),
            ("a row that shared memory does not hold everywhere, f32", norm(wide), Buckets::none(), none),
        ],
    );
    insta::assert_snapshot!("norms", text);
}

#[test]
fn the_golden_table_of_linears() {
    let registry = registry();
    let linear = |columns| DynProblem::new::<TestLinear>(TestLinearProblem::new(columns, 1024, DType::BF16));
    let buckets = Buckets::new(TestLinear::signature(), "tokens", &[8, 64]).unwrap();
    let invariant = Demands { deterministic: true, batch_invariant: true };
    let text = table(
        &registry,
        &[
            ("decode and prefill", linear(4096), buckets.clone(), Demands::default()),
            ("odd columns, deterministic and batch-invariant", linear(4095), buckets, invariant),
        ],
    );
    insta::assert_snapshot!("linears", text);
}
