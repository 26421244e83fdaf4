// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A42: an operator that requires a weight serves a problem without one, and with the bits of a weight of ones.

use half::f16;
use opweave_contract::Bounds;
use opweave_contract::ops::normalization::{RmsNorm, RmsNormArgs, RmsNormProblem};
use opweave_device::{Device, DeviceKind};
use opweave_device_npu::NpuDevice;
use opweave_registry::Workspace;
use opweave_runtime::{Config, Request};
use opweave_tensor::{DType, DeviceId, RawTensor};

use crate::script::runtime;
use crate::shared::{double, run, say};

const ROWS: usize = 3;
const WIDTH: usize = 37;

/// The bits of the same rows by a problem with a weight of ones, or without one.
fn norm(weighted: bool) -> Result<Vec<u8>, String> {
    let id = DeviceId::new(DeviceKind::Npu, 0);
    let weight_dtype = weighted.then_some(DType::F16);
    let mut problem = RmsNormProblem { weight_dtype, ..RmsNormProblem::new(WIDTH, DType::F16) };
    problem.bounds = Bounds::default().with(0, ROWS);
    let config = Config::new().device(id).request(Request::<RmsNorm>::new(problem).erase());
    let bindings = runtime().initialize(&config).map_err(|e| e.to_string())?;
    let norm = bindings.prepared::<RmsNorm>(id, &problem).map_err(|e| e.to_string())?;

    let text = |e: opweave_device::DeviceError| e.to_string();
    let device = NpuDevice::open(id).map_err(text)?;
    let need = norm.workspace().scratch;
    let allocate = |bytes: usize| device.allocate(bytes, need.align.max(64)).map_err(text);
    let (mut input, mut weight) = (allocate(2 * ROWS * WIDTH)?, allocate(2 * WIDTH)?);
    let (out, workspace) = (allocate(2 * ROWS * WIDTH)?, allocate(need.bytes)?);
    let halves = |count: usize, of: &dyn Fn(usize) -> f32| -> Vec<u8> {
        (0..count).flat_map(|i| f16::from_f32(of(i)).to_le_bytes()).collect()
    };
    input.write(0, &halves(ROWS * WIDTH, &|i| ((i * 37 % 101) as f32 - 50.0) / 7.0)).map_err(text)?;
    weight.write(0, &halves(WIDTH, &|_| 1.0)).map_err(text)?;
    let view = |data, shape: &[usize]| RawTensor::contiguous(data, DType::F16, id, shape).map_err(|e| e.to_string());
    let args = RmsNormArgs {
        input: view(input.data(), &[ROWS, WIDTH])?,
        weight: weighted.then(|| view(weight.data(), &[WIDTH])).transpose()?,
        out: view(out.data(), &[ROWS, WIDTH])?,
        epsilon: 1e-6,
    };
    let stream = device.stream().map_err(text)?;
    let workspace = Workspace { scratch: (workspace.data(), workspace.bytes()), zeroed: (std::ptr::null_mut(), 0) };
    // SAFETY: both clauses of `Prepared::enqueue`: the buffers outlive the call and nobody else uses them.
    unsafe { norm.enqueue(&args, workspace, stream.borrow()) }.map_err(|e| e.to_string())?;
    stream.synchronize().map_err(text)?;
    let mut bits = vec![0; 2 * ROWS * WIDTH];
    out.read(0, &mut bits).map_err(text)?;
    Ok(bits)
}

#[test]
#[ignore = "run by the other test, in a process that has the double"]
fn both() {
    let said = match (norm(true), norm(false)) {
        (Ok(with), Ok(without)) if with == without && with.iter().any(|&byte| byte != 0) => "done".to_owned(),
        other => format!("{other:?}"),
    };
    say(&said);
}

#[test]
fn a42_no_weight_has_the_bits_of_a_weight_of_ones() {
    let met = run("ones::both", double(), &[]);
    assert_eq!(met.said, "done");
    met.is_clean("without a weight");
}
