// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rows of the three operators on the noop device, and a runtime that has them.

use opweave_contract::{Erased, ImplementationDecl, LibraryDecl, OperationDecl, Operator, Relation};
use opweave_device::{Backend, DeviceId, DeviceKind, Fault, LaunchError, RawFault, noop, operation_code};
use opweave_registry::{
    Domain, ExecutionMode, KernelSpec, Linear, Needs, PackedLayout, PrepareError, Region, Regions, Registry,
    RegistryError, Reject,
};
use opweave_runtime::{Environment, Runtime, RuntimeBuilder, Solution};
use opweave_tensor::DType;

use super::kernel::{PlanNeeds, TestKernel, note};
use super::operators::*;

/// The first noop device.
pub const NOOP: DeviceId = DeviceId::new(DeviceKind::Noop, 0);

const fn row(name: &'static str, solution: &'static str) -> ImplementationDecl {
    ImplementationDecl { name, solution, libraries: &[] }
}

/// The operations and rows that the test declares.
pub static OPERATIONS: &[OperationDecl] = &[
    OperationDecl::new(
        &Erased::<TestNorm>::NEW,
        &[
            row("noop.native.test_norm.atomic", "noop.native"),
            row("noop.native.test_norm.eager", "noop.native"),
            row("noop.native.test_norm.wide", "noop.native"),
            row("noop.broken.test_norm", "noop.broken"),
            row("noop.reference.test_norm", "noop.reference"),
            ImplementationDecl {
                name: "noop.vendor.test_norm",
                solution: "noop.vendor",
                libraries: &[LibraryDecl { name: "vendor", minimum: "2.0" }],
            },
            row("cuda.native.test_norm", "cuda.native"),
        ],
    ),
    OperationDecl::new(
        &Erased::<TestLinear>::NEW,
        &[
            row("noop.native.test_linear.small", "noop.native"),
            row("noop.native.test_linear.tiled", "noop.native"),
            row("noop.reference.test_linear", "noop.reference"),
        ],
    ),
    OperationDecl::new(
        &Erased::<TestAttention>::NEW,
        &[row("noop.native.test_attention", "noop.native"), row("noop.reference.test_attention", "noop.reference")],
    ),
];

fn spec<O: Operator>(name: &str, solution: &str, priority: i32) -> KernelSpec {
    KernelSpec { priority, ..KernelSpec::new(name, solution, DeviceKind::Noop, O::CONTRACTS) }
}

fn native(registry: &mut Registry) -> Result<(), RegistryError> {
    norms(registry)?;
    linears(registry)?;
    let needs = Needs::default()
        .with(Domain::Ints("head_dim", vec![64, 128, 256]))
        .with(Domain::Relation(Relation::Divides("num_heads", "num_kv_heads")))
        .with(Domain::SharedMemory(Linear { constant: 1024, terms: vec![(2, "head_dim"), (1024, "page_size")] }));
    let spec = KernelSpec { needs, ..spec::<TestAttention>("noop.native.test_attention", "native", 10) };
    registry.register::<TestAttention, _>(std::sync::Arc::new(TestKernel {
        plan: attention_plan,
        launch: attention_launch,
        ..TestKernel::new(spec)
    }))?;
    Ok(())
}

fn norms(registry: &mut Registry) -> Result<(), RegistryError> {
    let wide = Needs::default()
        .with(Domain::DTypes(
            vec!["dtype", "weight_dtype"],
            vec![vec![Some(DType::F32), None], vec![Some(DType::F32), Some(DType::F32)], vec![Some(DType::BF16), None]],
        ))
        .with(Domain::Multiple("hidden_size", 8));
    let spec_of = |variant: &str, priority| KernelSpec {
        variant: Some(variant.to_owned()),
        ..spec::<TestNorm>(&format!("noop.native.test_norm.{variant}"), "native", priority)
    };
    registry.register::<TestNorm, _>(std::sync::Arc::new(TestKernel {
        // Wide rows pay off from nine rows on.
        rank: Some(|_, bucket, key| if bucket.high <= 8 { 5 } else { 20 + i32::from(key.has("fast")) }),
        ..TestKernel::new(KernelSpec { needs: wide, contracts: vec![&FAST], ..spec_of("wide", 20) })
    }))?;
    let atomic = KernelSpec { deterministic: false, batch_invariant: false, ..spec_of("atomic", 8) };
    registry.register::<TestNorm, _>(std::sync::Arc::new(TestKernel::new(atomic)))?;
    let eager = KernelSpec { modes: vec![ExecutionMode::Eager], ..spec_of("eager", 30) };
    registry.register::<TestNorm, _>(std::sync::Arc::new(TestKernel::new(eager)))?;
    Ok(())
}

fn linears(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.register::<TestLinear, _>(std::sync::Arc::new(TestKernel {
        plan: |p: &TestLinearProblem, _| {
            Ok(packed(PackedLayout::new("tiles of 16 columns", p.in_features * p.out_features * 4, 64)))
        },
        ..TestKernel::new(spec::<TestLinear>("noop.native.test_linear.tiled", "native", 10))
    }))?;
    registry.register::<TestLinear, _>(std::sync::Arc::new(TestKernel {
        rank: Some(|_, bucket, _| if bucket.high <= 8 { 20 } else { -1 }),
        residual: Some(|p: &TestLinearProblem, _, _| match p.in_features % 2 {
            0 => Ok(()),
            _ => Err(Reject::Residual { reason: format!("{} columns cannot be halved", p.in_features) }),
        }),
        plan: |p: &TestLinearProblem, _| {
            let tiles = if p.packing == Packing::Shared { "tiles of 16 columns" } else { "tiles of 8 columns" };
            Ok(packed(PackedLayout::new(tiles, p.in_features * p.out_features * 4, 64)))
        },
        ..TestKernel::new(spec::<TestLinear>("noop.native.test_linear.small", "native", 10))
    }))?;
    Ok(())
}

fn packed(layout: PackedLayout) -> PlanNeeds {
    PlanNeeds { packed: Some(layout), regions: Regions::default() }
}

/// Scratch of one row of each sequence, and a counter for each, from the bound of `batch`.
fn attention_plan(
    p: &TestAttentionProblem,
    context: &opweave_registry::PrepareContext<'_>,
) -> Result<PlanNeeds, PrepareError> {
    let bound = p.bounds.get(0).ok_or(PrepareError::Bounds { operation: TestAttention::NAME, dims: vec!["batch"] })?;
    let batch = bound.min(context.bucket.high);
    let scratch = Region::new(batch * p.num_heads * p.head_dim * 4, 256);
    Ok(PlanNeeds { regions: Regions { scratch, zeroed: Region::new(batch * 4, 64) }, packed: None })
}

/// Scans the slots before it does anything else, as the CPU does: a slot outside the cache is a fault.
fn attention_launch(
    args: &TestAttentionArgs,
    workspace: opweave_registry::Workspace,
    stream: opweave_device::StreamRef<'_>,
) -> Result<(), LaunchError> {
    note(format!("workspace {} {}", workspace.scratch.1, workspace.zeroed.1));
    let capacity = (args.cache.dim(0) * args.cache.dim(1)) as i32;
    for row in 0..args.slots.dim(0) {
        // SAFETY: clause 2 of `Plan::enqueue`: `slots` is readable, and `row` is below its size.
        let slot = unsafe { *args.slots.data().cast::<i32>().add(row) };
        if slot >= capacity {
            let row = row as u64;
            if let Some(faults) = stream.faults() {
                faults.raise(RawFault { operation: operation_code(TestAttention::NAME), clause: 0, row });
            }
            let clause = TestAttention::signature().faults[0];
            return Err(Fault { operation: TestAttention::NAME, clause, row }.into());
        }
    }
    Ok(())
}

fn vendor(registry: &mut Registry) -> Result<(), RegistryError> {
    let spec = KernelSpec {
        binding: "vendor".to_owned(),
        needs: Needs::default().library("vendor", "2.0"),
        ..spec::<TestNorm>("noop.vendor.test_norm", "vendor", 100)
    };
    let reason = Reject::MissingLibrary { library: "vendor".into(), reason: "libvendor.so: not found".into() };
    registry.register_unavailable::<TestNorm>(spec, reason)
}

fn broken(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.register::<TestNorm, _>(std::sync::Arc::new(TestKernel {
        plan: |_, context| {
            let device = context.device;
            let message = "no memory for the module".to_owned();
            Err(opweave_device::DeviceError::Driver { device, code: 2, message }.into())
        },
        launch: |_, _, _| Err(LaunchError::Refused("never prepared".into())),
        ..TestKernel::new(spec::<TestNorm>("noop.broken.test_norm", "broken", -50))
    }))?;
    Ok(())
}

fn reference(registry: &mut Registry) -> Result<(), RegistryError> {
    fn floor<O: Operator>(registry: &mut Registry) -> Result<(), RegistryError> {
        let spec = spec::<O>(&format!("noop.reference.{}", O::NAME), "reference", -100);
        registry.register::<O, _>(std::sync::Arc::new(TestKernel::<O>::new(spec)))?;
        Ok(())
    }
    floor::<TestNorm>(registry)?;
    floor::<TestLinear>(registry)?;
    floor::<TestAttention>(registry)
}

fn probe() -> Backend {
    noop::backend(2, &[])
}

/// The solutions of the noop device, in their written order.
pub const SOLUTIONS: [Solution; 4] = [
    Solution { name: "noop.native", register: native, probe },
    Solution { name: "noop.vendor", register: vendor, probe },
    Solution { name: "noop.broken", register: broken, probe },
    Solution { name: "noop.reference", register: reference, probe },
];

/// A builder with the test's declarations and solutions, and an environment of these variables.
pub fn builder(variables: &[(&str, &str)]) -> RuntimeBuilder {
    let variables: Vec<(String, String)> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let environment = move || -> Environment { variables.iter().cloned().collect() };
    let builder = Runtime::builder().declare(OPERATIONS).environment(environment);
    SOLUTIONS.into_iter().fold(builder, RuntimeBuilder::solution)
}

/// A runtime with an empty environment.
pub fn runtime() -> Runtime {
    builder(&[]).build()
}
