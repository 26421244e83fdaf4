// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a prepared call costs before a kernel does anything: contract check, bucket, plan, launch of an empty kernel.
//!
//! `cargo bench -p opweave-runtime --bench dispatch`. The bars, best of nine: a checked call 40 ns, an unchecked one
//! 25 ns, one that was checked beforehand no more than that, building the views of a call 25 ns.

use std::hint::black_box;
use std::num::NonZero;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use opweave_contract::Operator;
use opweave_contract::ops::normalization::{FusedAddRmsNorm, FusedAddRmsNormArgs, OPERATIONS, RmsNorm, RmsNormArgs};
use opweave_device::cpu::{Pool, backend};
use opweave_device::{DeviceId, DeviceKind, HostStream, LaunchError, StreamRef};
use opweave_registry::{
    ExecutionMode, Kernel, KernelSpec, Plan, PrepareContext, PrepareError, Prepared, Registry, RegistryError, Workspace,
};
use opweave_runtime::{Config, Request, Runtime, Solution};
use opweave_tensor::{DType, RawTensor};

/// A kernel that does nothing, for any operator.
struct Empty(KernelSpec);

struct EmptyPlan;

impl<O: Operator> Plan<O> for EmptyPlan {
    #[inline(never)]
    unsafe fn enqueue(&self, args: &O::Args, _: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        black_box(args);
        black_box(stream.raw());
        Ok(())
    }
}

impl<O: Operator> Kernel<O> for Empty {
    fn spec(&self) -> &KernelSpec {
        &self.0
    }
    fn prepare(&self, _: &O::Problem, _: &PrepareContext<'_>) -> Result<Arc<dyn Plan<O>>, PrepareError> {
        Ok(Arc::new(EmptyPlan))
    }
}

fn add<O: Operator>(registry: &mut Registry) -> Result<(), RegistryError> {
    let name = format!("cpu.empty.{}", O::NAME);
    registry.register::<O, _>(Arc::new(Empty(KernelSpec::new(name, "empty", DeviceKind::Cpu, O::CONTRACTS)))).map(drop)
}

fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    use opweave_contract::ImplementationDecl;
    const fn row(name: &'static str) -> ImplementationDecl {
        ImplementationDecl { name, solution: "cpu.empty", libraries: &[] }
    }
    registry.declare_rows("rms_norm", &[row("cpu.empty.rms_norm")])?;
    registry.declare_rows("fused_add_rms_norm", &[row("cpu.empty.fused_add_rms_norm")])?;
    add::<RmsNorm>(registry)?;
    add::<FusedAddRmsNorm>(registry)
}

fn prepared<O: Operator>(bounds: &str, buckets: &[usize]) -> Arc<Prepared<O>> {
    let runtime = Runtime::builder()
        .declare(OPERATIONS)
        .solution(Solution { name: "cpu.empty", register, probe: backend })
        .build();
    let pairs: Vec<&str> = ["hidden_size=4096", "dtype=bf16"].into_iter().chain(bounds.split_whitespace()).collect();
    let problem = O::problem_from(&pairs).expect("the problem is legal");
    let mut request = Request::<O>::new(problem);
    if !buckets.is_empty() {
        request = request.buckets("tokens", buckets).expect("the buckets ascend");
    }
    let config = Config::new().request(request).mode(ExecutionMode::Eager);
    let bindings = runtime.initialize(&config).expect("an empty kernel can always be prepared");
    bindings.prepared::<O>(DeviceId::CPU, &problem).expect("it was requested")
}

fn view(shape: &[usize]) -> RawTensor {
    RawTensor::contiguous(64 as *mut u8, DType::BF16, DeviceId::CPU, shape).expect("the shape is legal")
}

fn rms_norm_args() -> RmsNormArgs {
    RmsNormArgs { input: view(&[0, 4096]), weight: Some(view(&[4096])), out: view(&[0, 4096]), epsilon: 1e-6 }
}

fn fused_args() -> FusedAddRmsNormArgs {
    FusedAddRmsNormArgs {
        input: view(&[0, 4096]),
        residual: view(&[0, 4096]),
        weight: Some(view(&[4096])),
        out: view(&[0, 4096]),
        epsilon: 1e-6,
    }
}

/// One thing to time, for criterion's statistics and for the bar.
fn bench<R>(c: &mut Criterion, name: &str, mut call: impl FnMut() -> R) {
    c.bench_function(name, |b| b.iter(&mut call));
    // The bar is the best of nine short batches: a batch without an interruption is what the code costs.
    let mut batch = || {
        let start = Instant::now();
        for _ in 0..BATCH {
            black_box(call());
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(BATCH)
    };
    let best = (0..9).map(|_| batch()).fold(f64::INFINITY, f64::min);
    println!("{name}: best of nine {best:.1} ns");
}

/// Calls in a batch: about a millisecond, less than a scheduler's slice.
const BATCH: u32 = 20_000;

fn calls<O: Operator>(c: &mut Criterion, variant: &str, prepared: &Arc<Prepared<O>>, args: O::Args) {
    let pool = Pool::new(NonZero::<usize>::MIN).expect("one thread needs no other");
    let stream = HostStream::new(DeviceId::CPU, Arc::new(pool));
    bench(c, &format!("{}{variant}/checked", O::NAME), || {
        // SAFETY: clauses "memory" and "nobody else": a call of zero rows into a kernel that touches nothing.
        unsafe { prepared.enqueue(black_box(&args), Workspace::NONE, StreamRef::host(black_box(&stream))) }
    });
    bench(c, &format!("{}{variant}/unchecked", O::NAME), || {
        // SAFETY: as above, and `enqueue` accepts these very arguments in the benchmark before.
        unsafe { prepared.enqueue_unchecked(black_box(&args), Workspace::NONE, StreamRef::host(black_box(&stream))) }
    });
    let kept = prepared.checked(args, Workspace::NONE).expect("a checked call accepts it");
    bench(c, &format!("{}{variant}/checked beforehand", O::NAME), || {
        // SAFETY: clauses "memory" and "nobody else", as above.
        unsafe { black_box(&kept).enqueue(StreamRef::host(black_box(&stream))) }
    });
}

fn dispatch(c: &mut Criterion) {
    calls(c, "", &prepared::<RmsNorm>("", &[]), rms_norm_args());
    calls(c, "", &prepared::<FusedAddRmsNorm>("", &[]), fused_args());
    calls(c, " in four buckets", &prepared::<FusedAddRmsNorm>("", &[8, 64, 512]), fused_args());
    bench(c, "views/rms_norm", rms_norm_args);
    bench(c, "views/fused_add_rms_norm", fused_args);
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .without_plots();
    targets = dispatch
}
criterion_main!(benches);
