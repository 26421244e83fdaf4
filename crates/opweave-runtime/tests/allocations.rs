// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A prepared call allocates nothing: checked, checked beforehand or not, with rows or without, on one thread or several.
//!
//! Only the threads that take part are counted: the harness of the test allocates on its own thread when it pleases.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

use opweave_contract::Operator;
use opweave_device::cpu::{Parallel, Pool, Serial, host_key};
use opweave_device::{DeviceId, DeviceKind, HostFaults, HostStream, LaunchError, StreamRef};
use opweave_registry::{
    Bucket, Buckets, ExecutionMode, Kernel, KernelSpec, Plan, PrepareContext, PrepareError, Prepared, Record, Region,
    Regions, Workspace,
};
use opweave_tensor::DType;

use support::call::Call;
use support::operators::{TestNorm, TestNormArgs, TestNormProblem};

#[path = "support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with the rules, which use all of it")]
mod support;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether this thread is counted. Constant and without a destructor, so that asking allocates nothing.
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

struct Counting;

fn count() {
    if COUNTED.get() {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every method hands its arguments on to `System`, whose contract is the same.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: clause of `alloc`: the caller's layout is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        count();
        // SAFETY: clause of `dealloc`: `data` came from `System` with this layout.
        unsafe { System.dealloc(data, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Doubles rows on the stream's threads.
struct Doubling(KernelSpec);

impl Kernel<TestNorm> for Doubling {
    fn spec(&self) -> &KernelSpec {
        &self.0
    }

    fn prepare(&self, _: &TestNormProblem, _: &PrepareContext<'_>) -> Result<Arc<dyn Plan<TestNorm>>, PrepareError> {
        Ok(Arc::new(Doubled))
    }
}

struct Doubled;

impl Plan<TestNorm> for Doubled {
    fn workspace(&self) -> Regions {
        Regions { scratch: Region::new(256, 64), zeroed: Region::new(64, 64) }
    }

    unsafe fn enqueue(&self, args: &TestNormArgs, _: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        let (rows, width) = (args.input.dim(0), args.input.dim(1));
        let double = |row: usize| {
            for column in 0..width {
                let at = row * width + column;
                // SAFETY: clause 2 of `Plan::enqueue`: both views have `rows * width` elements, and a row is one task's.
                unsafe { *args.out.data().cast::<f32>().add(at) = 2.0 * *args.input.data().cast::<f32>().add(at) };
            }
        };
        stream.pool().run(rows, &double);
        Ok(())
    }
}

fn prepared(ends: &[usize]) -> Prepared<TestNorm> {
    let kernel = Doubling(KernelSpec::new("cpu.native.test_norm", "native", DeviceKind::Cpu, TestNorm::CONTRACTS));
    let (problem, key) = (TestNormProblem::new(64, DType::F32), host_key());
    let buckets = match ends {
        [] => Buckets::none(),
        ends => Buckets::new(TestNorm::signature(), "tokens", ends).unwrap(),
    };
    let plan = |bucket: Bucket| {
        let context = PrepareContext { device: DeviceId::CPU, key: &key, bucket, communicator: None };
        let plan = kernel.prepare(&problem, &context).unwrap();
        let record = Record { bucket, spec: kernel.0.clone(), considered: Vec::new(), because: String::new() };
        (plan, record)
    };
    let plans = buckets.iter().map(plan).collect();
    Prepared::new(problem, DeviceId::CPU, host_key(), ExecutionMode::Eager, 1, buckets, plans).unwrap()
}

#[test]
fn a_prepared_call_allocates_nothing() {
    let pools: [(&str, Arc<dyn Parallel>); 2] =
        [("serial", Arc::new(Serial)), ("three threads", Arc::new(Pool::new(NonZero::new(3).unwrap()).unwrap()))];
    for (threads, pool) in pools {
        // Every thread of the pool takes one task, since none ends before all have begun.
        let all = Barrier::new(pool.threads());
        pool.run(pool.threads(), &|_| {
            COUNTED.set(true);
            all.wait();
        });
        let stream = HostStream::new(DeviceId::CPU, pool);
        let faults = HostFaults::default();
        for ends in [&[][..], &[8, 64]] {
            let prepared = Arc::new(prepared(ends));
            for rows in [0, 1, 40, 200] {
                let call = Call::new(&prepared, &[rows]);
                let stream = StreamRef::host(&stream).with_faults(&faults);
                let kept = prepared.checked(call.args, call.workspace).unwrap();
                let run = |how: &str| {
                    let (args, workspace) = (&call.args, call.workspace);
                    // SAFETY: the call owns its memory, nobody else uses it, and the contract accepts it (it was made
                    // for this operator, and the checked call below says so too).
                    let result = unsafe {
                        match how {
                            "checked" => prepared.enqueue(args, workspace, stream),
                            "checked and made" => {
                                prepared.checked(*args, workspace).and_then(|call| call.enqueue(stream))
                            }
                            "checked beforehand" => kept.enqueue(stream),
                            _ => prepared.enqueue_unchecked(args, workspace, stream),
                        }
                    };
                    assert!(result.is_ok());
                };
                // The first run may wake what the operating system starts lazily.
                run("checked");
                for how in ["checked", "checked and made", "checked beforehand", "unchecked"] {
                    let before = ALLOCATIONS.load(Ordering::Relaxed);
                    for _ in 0..200 {
                        run(how);
                    }
                    let count = ALLOCATIONS.load(Ordering::Relaxed) - before;
                    assert_eq!(count, 0, "{rows} rows on {threads}, {how}, buckets {ends:?}");
                }
            }
        }
    }
    // The counter counts, on this thread and on the pool's.
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    drop(std::hint::black_box(vec![1_u8; 100]));
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 2);
}
