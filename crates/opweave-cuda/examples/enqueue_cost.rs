// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a prepared, checked call costs the host, beside a bare launch of the same kernel with the same arguments and attributes.
//!
//! `enqueue_cost [ROUNDS]` on a machine with a GPU. Batches of both take turns; each batch is launched into a stream that was
//! drained before, and timed without waiting for it.

use std::error::Error;
use std::time::Instant;

use opweave_contract::ops::normalization::{OPERATIONS, RmsNorm, RmsNormArgs, RmsNormProblem};
use opweave_cuda::normalization::NormParams;
use opweave_device::{Device, StreamRef};
use opweave_device_cuda::{BareLaunch, CudaDevice, Grid, Launch, Module};
use opweave_registry::{ExecutionMode, Workspace};
use opweave_runtime::{Config, Request, Runtime, Solution};
use opweave_tensor::{DType, DeviceId, DeviceKind, RawTensor};

/// Launches in a batch: fewer than a stream's queue holds, or the host would wait for the device.
const BATCH: usize = 200;
const WIDTH: usize = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    let rounds = std::env::args().nth(1).map_or(Ok(51), |text| text.parse::<usize>())?;
    let id = DeviceId::new(DeviceKind::Cuda, 0);
    let device = CudaDevice::open(id)?;
    let stream = device.stream()?;
    let memory = device.allocate(3 * WIDTH * 2, 256)?;
    let view = |at: usize, shape: &[usize]| {
        RawTensor::contiguous(memory.data().wrapping_add(at * WIDTH * 2), DType::BF16, id, shape)
    };
    let args = RmsNormArgs {
        input: view(0, &[1, WIDTH])?,
        weight: Some(view(1, &[WIDTH])?),
        out: view(2, &[1, WIDTH])?,
        epsilon: 1e-6,
    };

    let problem = RmsNormProblem::new(WIDTH, DType::BF16);
    let solution =
        Solution { name: "cuda.native", register: opweave_cuda::register, probe: opweave_device_cuda::backend };
    let runtime = Runtime::builder().declare(OPERATIONS).solution(solution).build();
    let request = Request::<RmsNorm>::new(problem);
    let bindings = runtime.initialize(&Config::new().device(id).mode(ExecutionMode::Graph).request(request))?;
    let prepared = bindings.prepared::<RmsNorm>(id, &problem)?;

    let image = opweave_kernels_cuda::images()?.image("rms_norm")?;
    let description = opweave_kernels_cuda::description("rms_norm")?.ok_or("the kernel is described")?;
    let module = Module::load(device.context(), "rms_norm", image.bytes())?;
    let launch = Launch::new(module.function(&description.symbol("bf16", "v1"))?, true);
    let parameters =
        NormParams::new(&args.input, &args.out, WIDTH, 1, args.epsilon).weight(args.weight.as_ref(), DType::BF16);
    let grid = Grid { blocks: 1, block: [WIDTH as u32 / 8, 1], shared_memory: 0 };
    let mut bare = BareLaunch::new(&launch, grid, parameters, stream.borrow());

    let _current = device.context().enter()?;
    let mut ratios = Vec::new();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let call = batch(&*stream, || {
            let stream: StreamRef<'_> = stream.borrow();
            // SAFETY: the memory is alive to the end of this function, and nothing else uses it.
            drop(unsafe { prepared.enqueue(&args, Workspace::NONE, stream) });
        })?;
        let least = batch(&*stream, || {
            // SAFETY: the same kernel with the same arguments; stream and context are alive, the context is current.
            unsafe { bare.run() };
        })?;
        ratios.push(call / least);
        ours.push(call);
        theirs.push(least);
    }
    println!(
        "prepared, checked enqueue {:.3} us; bare cuLaunchKernelEx {:.3} us; ratio {:.3} (median of {rounds} pairs of {BATCH})",
        median(ours),
        median(theirs),
        median(ratios)
    );
    Ok(())
}

/// Microseconds a call.
fn batch(stream: &dyn opweave_device::Stream, mut call: impl FnMut()) -> Result<f64, Box<dyn Error>> {
    stream.synchronize()?;
    let start = Instant::now();
    (0..BATCH).for_each(|_| call());
    let elapsed = start.elapsed();
    stream.synchronize()?;
    Ok(elapsed.as_secs_f64() * 1e6 / BATCH as f64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
