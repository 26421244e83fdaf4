// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Two devices, threads, and the order in which things are dropped; a call that fails among others.

use std::sync::Arc;

use half::f16;
use opweave_contract::Bounds;
use opweave_contract::ops::normalization::{RmsNorm, RmsNormArgs, RmsNormProblem};
use opweave_device::{Buffer, Device, DeviceKind, Stream};
use opweave_device_npu::NpuDevice;
use opweave_registry::{Prepared, Workspace};
use opweave_runtime::{Config, Request};
use opweave_tensor::{DType, DeviceId, RawTensor};

use crate::script::runtime;
use crate::shared::{double, run, say};

const WIDTH: usize = 16;

fn id(index: u16) -> DeviceId {
    DeviceId::new(DeviceKind::Npu, index)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A row of one number on a device, of which the norm is one.
struct Row {
    device: NpuDevice,
    norm: Arc<Prepared<RmsNorm>>,
    stream: Box<dyn Stream>,
    input: Box<dyn Buffer>,
    out: Box<dyn Buffer>,
    workspace: Box<dyn Buffer>,
}

impl Row {
    fn new(index: u16) -> Result<Self, String> {
        let mut problem = RmsNormProblem { weight_dtype: None, ..RmsNormProblem::new(WIDTH, DType::F16) };
        problem.bounds = Bounds::default().with(0, 1);
        let config = Config::new().device(id(index)).request(Request::<RmsNorm>::new(problem).erase());
        let bindings = runtime().initialize(&config).map_err(text)?;
        let norm = bindings.prepared::<RmsNorm>(id(index), &problem).map_err(text)?;
        let device = NpuDevice::open(id(index)).map_err(text)?;
        let need = norm.workspace().scratch;
        let allocate = |bytes: usize| device.allocate(bytes, need.align.max(64)).map_err(text);
        let (input, out, workspace) = (allocate(2 * WIDTH)?, allocate(2 * WIDTH)?, allocate(need.bytes)?);
        let stream = device.stream().map_err(text)?;
        Ok(Row { device, norm, stream, input, out, workspace })
    }

    fn call(&mut self, number: f32) -> Result<(), String> {
        let row = f16::from_f32(number).to_le_bytes().repeat(WIDTH);
        self.input.write(0, &row).map_err(text)?;
        let view = |data| RawTensor::contiguous(data, DType::F16, self.device.id(), &[1, WIDTH]).map_err(text);
        let args =
            RmsNormArgs { input: view(self.input.data())?, weight: None, out: view(self.out.data())?, epsilon: 0.0 };
        let workspace =
            Workspace { scratch: (self.workspace.data(), self.workspace.bytes()), zeroed: (std::ptr::null_mut(), 0) };
        // SAFETY: both clauses of `Prepared::enqueue`: the buffers outlive the call and nobody else uses them.
        unsafe { self.norm.enqueue(&args, workspace, self.stream.borrow()) }.map_err(text)?;
        self.stream.synchronize().map_err(text)?;
        let mut found = vec![0; 2 * WIDTH];
        self.out.read(0, &mut found).map_err(text)?;
        let one = f16::from_f32(number.signum()).to_le_bytes().repeat(WIDTH);
        (found == one).then_some(()).ok_or_else(|| format!("{:?}: {found:?}", self.device.id()))
    }
}

/// One thread works on two devices in turns; then each has a thread of its own.
fn two() -> Result<(), String> {
    let mut rows = [Row::new(0)?, Row::new(1)?];
    for turn in 0..4 {
        rows[turn % 2].call(turn as f32 + 1.0)?;
    }
    let many = |row: &mut Row| (1..=100).try_for_each(|number| row.call(-(number as f32)));
    let [first, second] = &mut rows;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| many(second));
        many(first)?;
        other.join().map_err(|_| "a thread fell over".to_owned())?
    })
}

/// Devices go before what is theirs, and the last of it goes on a thread that never saw them.
fn dropped() -> Result<(), String> {
    let first = NpuDevice::open(id(0)).map_err(text)?;
    let mut buffer = first.allocate(64, 64).map_err(text)?;
    let second = NpuDevice::open(id(1)).map_err(text)?;
    drop(second);
    drop(first);
    buffer.write(0, &[7; 64]).map_err(text)?;
    let gone = std::thread::spawn(move || drop(buffer)).join();
    gone.map_err(|_| "a drop fell over".to_owned())
}

/// The call that fails is the one that says so; those before and behind it are right.
fn one_fails() -> Result<(), String> {
    let mut row = Row::new(0)?;
    row.call(1.0)?;
    match row.call(2.0) {
        Err(said) if said.contains("aclnnRmsNorm") && said.contains("561103") => {}
        other => return Err(format!("the second call: {other:?}")),
    }
    row.call(3.0)
}

#[test]
#[ignore = "run by the other tests, in a process that has the double"]
fn the_scripts() {
    let script = std::env::var("OPWEAVE_SCRIPT_NAME").unwrap();
    let said = match script.as_str() {
        "two" => two(),
        "dropped" => dropped(),
        "one_fails" => one_fails(),
        other => Err(format!("no script {other}")),
    };
    say(&said.err().unwrap_or_else(|| "done".to_owned()));
}

fn passes(script: &str, more: &[(&str, &str)]) {
    let variables = [&[("OPWEAVE_SCRIPT_NAME", script), ("OPWEAVE_DOUBLE_DEVICES", "2")], more].concat();
    let met = run("devices::the_scripts", double(), &variables);
    assert_eq!(met.said, "done", "{script}");
    met.is_clean(script);
}

#[test]
fn b12_each_device_does_its_own_work_whatever_was_current_and_on_any_thread() {
    passes("two", &[]);
}

#[test]
fn b14_what_outlives_its_device_is_freed_on_any_thread() {
    passes("dropped", &[]);
}

#[test]
fn b17_a_failed_launch_is_the_error_of_its_call_alone() {
    passes("one_fails", &[("OPWEAVE_DOUBLE_FAIL", "aclnnRmsNorm:2=561103")]);
}
