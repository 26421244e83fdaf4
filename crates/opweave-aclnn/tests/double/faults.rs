// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Faults that operators of the vendor's raise one after the other: the first one stays until it is taken.

use opweave_contract::Bounds;
use opweave_contract::ops::embedding::{Embedding, EmbeddingArgs, EmbeddingProblem};
use opweave_device::{Device, DeviceKind, RawFault, operation_code};
use opweave_device_npu::NpuDevice;
use opweave_registry::Workspace;
use opweave_runtime::{Config, Request};
use opweave_tensor::{DType, DeviceId, RawTensor};

use crate::script::runtime;
use crate::shared::{double, run, say};

const WIDTH: usize = 5;
const VOCABULARY: usize = 6;

fn live() -> Result<(), String> {
    let id = DeviceId::new(DeviceKind::Npu, 0);
    let mut problem = EmbeddingProblem::new(VOCABULARY, WIDTH, DType::F32);
    problem.bounds = Bounds::default().with(0, 4);
    let config = Config::new().device(id).request(Request::<Embedding>::new(problem).erase());
    let bindings = runtime().initialize(&config).map_err(|e| e.to_string())?;
    let embedding = bindings.prepared::<Embedding>(id, &problem).map_err(|e| e.to_string())?;

    let text = |e: opweave_device::DeviceError| e.to_string();
    let device = NpuDevice::open(id).map_err(text)?;
    let need = embedding.workspace().scratch;
    let allocate = |bytes: usize| device.allocate(bytes, need.align.max(64)).map_err(text);
    let (mut ids, table, out) = (allocate(16)?, allocate(4 * WIDTH * VOCABULARY)?, allocate(4 * WIDTH * 4)?);
    let workspace = allocate(need.bytes)?;
    let (stream, faults) = (device.stream().map_err(text)?, device.faults().map_err(text)?);
    let view = |data, dtype, shape: &[usize]| RawTensor::contiguous(data, dtype, id, shape).map_err(|e| e.to_string());
    let args = EmbeddingArgs {
        ids: view(ids.data(), DType::I32, &[4])?,
        table: view(table.data(), DType::F32, &[VOCABULARY, WIDTH])?,
        out: view(out.data(), DType::F32, &[4, WIDTH])?,
    };
    let mut call = |rows: [i32; 4]| {
        ids.write(0, &rows.map(i32::to_le_bytes).concat()).map_err(text)?;
        let workspace = Workspace { scratch: (workspace.data(), workspace.bytes()), zeroed: (std::ptr::null_mut(), 0) };
        // SAFETY: both clauses of `Prepared::enqueue`: the buffers outlive the call and nobody else uses them.
        unsafe { embedding.enqueue(&args, workspace, stream.borrow().with_faults(&*faults)) }
            .map_err(|e| e.to_string())?;
        stream.synchronize().map_err(text)
    };
    let fault = |row| Some(RawFault { operation: operation_code("embedding"), clause: 0, row });
    call([0, 1, 2, 5])?;
    let mut taken = vec![faults.take().map_err(text)?];
    // The first of two stays, and the next one after it was taken is seen again.
    call([0, 6, 2, 5])?;
    call([0, 1, 2, -1])?;
    taken.push(faults.take().map_err(text)?);
    call([i32::MIN, 1, 2, 3])?;
    taken.push(faults.take().map_err(text)?);
    taken.push(faults.take().map_err(text)?);
    let wanted = [None, fault(1), fault(0), None];
    (taken == wanted).then_some(()).ok_or_else(|| format!("{taken:?} and not {wanted:?}"))
}

#[test]
#[ignore = "run by the other test, in a process that has the double"]
fn the_calls() {
    let said = live().err().unwrap_or_else(|| "done".to_owned());
    say(&said);
}

#[test]
fn the_first_fault_stays_until_it_is_taken() {
    let met = run("faults::the_calls", double(), &[]);
    assert_eq!(met.said, "done");
    let rest: Vec<&str> = met.report.lines().filter(|line| *line != "end").collect();
    assert!(rest.is_empty() && met.report.contains("end"), "{rest:?}");
}
