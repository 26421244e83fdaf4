// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Every row of an operator, called on views of a test's own memory.

use std::num::NonZero;
use std::sync::Arc;

use opweave_contract::{OperationDecl, Operator, ops};
use opweave_device::cpu::{Parallel, Pool, Serial, host_key};
use opweave_device::{Fault, FaultSink, HostFaults, HostStream, LaunchError, StreamRef, operation_code};
use opweave_registry::{
    Bucket, Buckets, Considered, EnqueueError, ExecutionMode, FrozenRegistry, PrepareContext, Prepared, Record,
    Registry, Workspace,
};
use opweave_tensor::{DeviceId, Element, RawTensor};

/// The registry of the CPU's rows.
pub(crate) fn registry() -> Arc<FrozenRegistry> {
    let mut registry = Registry::new();
    registry.declare(&ops::operations().copied().collect::<Vec<OperationDecl>>()).unwrap();
    opweave_cpu::register(&mut registry).unwrap();
    registry.freeze()
}

/// Every row of `O` that this host has, prepared for `problem`, with its name.
pub(crate) fn every_row<O: Operator>(problem: O::Problem) -> Vec<(String, Prepared<O>)> {
    O::validate(&problem).unwrap();
    let registry = registry();
    let key = host_key().clone();
    let mut out = Vec::new();
    for row in registry.rows_of(O::NAME) {
        let Some(kernel) = row.kernel::<O>() else { continue };
        let context = PrepareContext { device: DeviceId::CPU, key: &key, bucket: Bucket::ALL, communicator: None };
        let plan = kernel.prepare(&problem, &context).unwrap();
        let spec = row.spec().clone();
        let name = spec.name.clone();
        let record = Record { bucket: Bucket::ALL, spec, considered: Vec::<Considered>::new(), because: String::new() };
        let mode = ExecutionMode::Eager;
        let prepared =
            Prepared::new(problem, DeviceId::CPU, key.clone(), mode, 0, Buckets::none(), vec![(plan, record)]);
        out.push((name, prepared.unwrap()));
    }
    assert!(out.len() >= 2, "a native row and the reference at least");
    out
}

/// A stream on this many threads.
pub(crate) fn stream(threads: usize) -> HostStream {
    let pool: Arc<dyn Parallel> = match threads {
        1 => Arc::new(Serial),
        n => Arc::new(Pool::new(NonZero::new(n).unwrap()).unwrap()),
    };
    HostStream::new(DeviceId::CPU, pool)
}

/// One call with a fault buffer: what stands in it afterwards, as clause and row.
pub(crate) fn call<O: Operator>(op: &Prepared<O>, args: &O::Args, stream: &HostStream) -> Option<(&'static str, u64)> {
    let faults = HostFaults::default();
    // SAFETY: clauses 1 and 2 of `Prepared::enqueue`: the views are of vectors of the test, which nobody else uses.
    unsafe { op.enqueue(args, Workspace::NONE, StreamRef::host(stream).with_faults(&faults)) }.unwrap();
    let raised = faults.take().unwrap()?;
    assert_eq!(raised.operation, operation_code(O::NAME));
    Some((O::signature().faults[raised.clause as usize], raised.row))
}

/// One call without a fault buffer.
pub(crate) fn bare<O: Operator>(op: &Prepared<O>, args: &O::Args, stream: &HostStream) -> Option<Fault> {
    // SAFETY: as in `call`.
    match unsafe { op.enqueue(args, Workspace::NONE, StreamRef::host(stream)) } {
        Ok(()) => None,
        Err(EnqueueError::Launch { source: LaunchError::Fault(fault), .. }) => Some(fault),
        Err(other) => panic!("{other}"),
    }
}

/// A contiguous view of a vector.
pub(crate) fn view<T: Element>(values: &mut [T], shape: &[usize]) -> RawTensor {
    assert!(values.len() >= shape.iter().product());
    RawTensor::contiguous(values.as_mut_ptr().cast(), T::DTYPE, DeviceId::CPU, shape).unwrap()
}

/// A view of a vector from `offset` on.
pub(crate) fn strided<T: Element>(values: &mut [T], offset: usize, shape: &[usize], strides: &[isize]) -> RawTensor {
    let last: usize = shape.iter().zip(strides).map(|(&n, &s)| (n - 1) * s as usize).sum();
    assert!(offset + last < values.len(), "the view leaves the vector");
    RawTensor::strided(values[offset..].as_mut_ptr().cast(), T::DTYPE, DeviceId::CPU, shape, strides).unwrap()
}
