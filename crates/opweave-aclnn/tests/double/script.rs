// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a process does that meets the double: a whole life of one operator, eager, captured and replayed.

use half::f16;
use opweave_contract::Bounds;
use opweave_contract::ops::FAMILIES;
use opweave_contract::ops::normalization::{RmsNorm, RmsNormArgs, RmsNormProblem};
use opweave_device::{Buffer, Device, DeviceKind, StreamRef};
use opweave_device_npu::NpuDevice;
use opweave_registry::{Prepared, Workspace};
use opweave_runtime::{Config, Environment, Request, Runtime, Solution};
use opweave_tensor::{DType, DeviceId, RawTensor};

use crate::shared::say;

pub(crate) const SOLUTION: Solution =
    Solution { name: "npu.aclnn", register: opweave_aclnn::register, probe: opweave_device_npu::backend };

pub(crate) fn runtime() -> Runtime {
    let builder = FAMILIES.iter().fold(Runtime::builder(), |builder, family| builder.declare(family));
    builder.solution(SOLUTION).environment(Environment::default).build()
}

const WIDTH: usize = 33;
const MOST: usize = 16;

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| f16::from_f32(*v).to_le_bytes()).collect()
}

fn values(buffer: &dyn Buffer, count: usize) -> Result<Vec<f32>, String> {
    let mut bytes = vec![0; 2 * count];
    buffer.read(0, &mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes.chunks_exact(2).map(|b| f16::from_le_bytes([b[0], b[1]]).to_f32()).collect())
}

/// `x / sqrt(mean(x^2) + 1e-6) * w` of the numbers that f16 holds.
fn expected(rows: &[f32], weight: &[f32]) -> Vec<f32> {
    let rounded = |v: &f32| f64::from(f16::from_f32(*v).to_f32());
    let weight: Vec<f64> = weight.iter().map(rounded).collect();
    let row = |row: &[f32]| {
        let row: Vec<f64> = row.iter().map(rounded).collect();
        let root = (row.iter().map(|v| v * v).sum::<f64>() / row.len() as f64 + 1e-6).sqrt();
        row.iter().zip(&weight).map(|(x, w)| (x / root * w) as f32).collect::<Vec<_>>()
    };
    rows.chunks_exact(WIDTH).flat_map(row).collect()
}

fn near(found: &[f32], wanted: &[f32], what: &str) -> Result<(), String> {
    let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-3 * b.abs() + 1e-4;
    match found.iter().zip(wanted).position(|pair| !close(pair)) {
        None => Ok(()),
        Some(at) => Err(format!("{what}: element {at} is {} and should be {}", found[at], wanted[at])),
    }
}

fn wave(rows: usize, phase: f32) -> Vec<f32> {
    (0..rows * WIDTH).map(|i| ((i as f32) * 0.37 + phase).sin() * 3.0).collect()
}

struct Life {
    device: NpuDevice,
    input: Box<dyn Buffer>,
    weight: Box<dyn Buffer>,
    out: Box<dyn Buffer>,
    workspace: Box<dyn Buffer>,
}

impl Life {
    fn view(&self, buffer: &dyn Buffer, at: usize, rows: usize, pitch: usize) -> Result<RawTensor, String> {
        let (data, id) = (buffer.data().wrapping_add(at), self.device.id());
        RawTensor::strided(data, DType::F16, id, &[rows, WIDTH], &[pitch as isize, 1]).map_err(|e| e.to_string())
    }

    /// One call on `rows` rows, which begin `at` bytes into the buffers.
    fn call(
        &self,
        norm: &Prepared<RmsNorm>,
        at: usize,
        rows: usize,
        epsilon: f32,
        in_place: bool,
        stream: StreamRef<'_>,
    ) -> Result<(), String> {
        let id = self.device.id();
        let weight = RawTensor::contiguous(self.weight.data(), DType::F16, id, &[WIDTH]).map_err(|e| e.to_string())?;
        let input = self.view(&*self.input, at, rows, WIDTH)?;
        let out = if in_place { input } else { self.view(&*self.out, at, rows, WIDTH)? };
        let args = RmsNormArgs { input, weight: Some(weight), out, epsilon };
        let workspace =
            Workspace { scratch: (self.workspace.data(), self.workspace.bytes()), zeroed: (std::ptr::null_mut(), 0) };
        // SAFETY: both clauses of `Prepared::enqueue`: the buffers outlive the call and nobody else uses them.
        unsafe { norm.enqueue(&args, workspace, stream) }.map_err(|e| e.to_string())
    }
}

fn live() -> Result<(), String> {
    let id = DeviceId::new(DeviceKind::Npu, 0);
    let mut problem = RmsNormProblem::new(WIDTH, DType::F16);
    problem.bounds = Bounds::default().with(0, MOST);
    let runtime = runtime();
    let config = Config::new().device(id).request(Request::<RmsNorm>::new(problem).erase());
    let bindings = runtime.initialize(&config).map_err(|e| e.to_string())?;
    let norm = bindings.prepared::<RmsNorm>(id, &problem).map_err(|e| e.to_string())?;

    let text = |e: opweave_device::DeviceError| e.to_string();
    let device = NpuDevice::open(id).map_err(text)?;
    let need = norm.workspace().scratch;
    let allocate = |bytes: usize, align| device.allocate(bytes, align).map_err(text);
    let (input, weight, out) = (allocate(4096, 64)?, allocate(2 * WIDTH, 64)?, allocate(4096, 64)?);
    let workspace = allocate(need.bytes, need.align.max(1))?;
    let mut life = Life { device, input, weight, out, workspace };
    let scale: Vec<f32> = (0..WIDTH).map(|i| 0.5 + i as f32 / 32.0).collect();
    life.weight.write(0, &bytes(&scale)).map_err(text)?;
    let stream = life.device.stream().map_err(text)?;

    // A size that an executor is kept for; one that none is kept for; another epsilon; addresses that are not aligned; no rows;
    // in place.
    for (at, rows, epsilon) in [(0, 4, 1e-6), (0, 16, 1e-6), (0, 7, 1e-6), (0, 4, 1e-5), (2, 4, 1e-6), (0, 0, 1e-6)] {
        let x = wave(rows, rows as f32);
        if rows > 0 {
            life.input.write(at, &bytes(&x)).map_err(text)?;
        }
        life.call(&norm, at, rows, epsilon, false, stream.borrow())?;
        stream.synchronize().map_err(text)?;
        let found = values(&*life.out, at / 2 + rows * WIDTH)?;
        near(&found[at / 2..], &expected(&x, &scale), &format!("eager, {rows} rows at {at}"))?;
    }
    let x = wave(3, 0.5);
    life.input.write(0, &bytes(&x)).map_err(text)?;
    life.call(&norm, 0, 3, 1e-6, true, stream.borrow())?;
    stream.synchronize().map_err(text)?;
    near(&values(&*life.input, 3 * WIDTH)?, &expected(&x, &scale), "in place")?;

    // Captured, then another input in the same place, then replayed twice.
    stream.begin_capture().map_err(text)?;
    let captured = life.call(&norm, 0, 4, 1e-6, false, stream.borrow());
    let graph = stream.end_capture().map_err(text)?;
    captured?;
    for phase in [1.0, 2.0] {
        let x = wave(4, phase);
        life.input.write(0, &bytes(&x)).map_err(text)?;
        graph.replay(stream.borrow()).map_err(|e| e.to_string())?;
        stream.synchronize().map_err(text)?;
        near(&values(&*life.out, 4 * WIDTH)?, &expected(&x, &scale), "replayed")?;
    }
    let (mut first, mut second) = (stream.event().map_err(text)?, stream.event().map_err(text)?);
    first.record(stream.borrow()).map_err(text)?;
    life.call(&norm, 0, 4, 1e-6, false, stream.borrow())?;
    second.record(stream.borrow()).map_err(text)?;
    let took = second.elapsed_us(&*first).map_err(text)?;
    (took > 0.0).then_some(()).ok_or_else(|| format!("a call took {took} us"))
}

#[test]
#[ignore = "run by the other tests, in a process that has the double"]
fn the_script() {
    let said = live().err().unwrap_or_else(|| "done".to_owned());
    say(&said);
}
