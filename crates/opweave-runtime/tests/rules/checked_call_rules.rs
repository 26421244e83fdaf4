// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A call that is checked once is, whenever it is made, the call that it was checked as.

use std::sync::Arc;

use opweave_contract::{Bounds, Clause, Operator};
use opweave_device::cpu::Serial;
use opweave_device::{
    Buffer, DeviceError, DeviceId, Graph, HostFaults, HostStream, LaunchError, StreamBackend, StreamRef,
};
use opweave_registry::{CheckedCall, EnqueueError, Prepared, Workspace};
use opweave_runtime::Request;
use opweave_tensor::DType;

use crate::noop_chain::{enqueue, norm, prepare, stream};
use crate::support::call::Call;
use crate::support::kernel::take_log;
use crate::support::operators::*;
use crate::support::world::{NOOP, builder, runtime};

fn checked<O: Operator>(prepared: &Arc<Prepared<O>>, call: &Call<O>) -> Result<CheckedCall<O>, EnqueueError> {
    prepared.checked(call.args, call.workspace)
}

fn make<O: Operator>(call: &CheckedCall<O>, stream: StreamRef<'_>) -> Result<(), EnqueueError> {
    // SAFETY: the clauses of `Prepared::enqueue`: the `Call` that it was checked from owns its memory, which is host memory, and nobody
    // else uses it.
    unsafe { call.enqueue(stream) }
}

#[test]
fn it_launches_what_the_call_launches_as_often_as_it_is_made() {
    let prepared = prepare::<TestNorm>(&runtime(), Request::new(norm()).buckets("tokens", &[8, 64]).unwrap());
    let stream = stream();
    for tokens in [0, 8, 9, 64, 65, 1000] {
        let call = Call::new(&prepared, &[tokens]);
        let kept = checked(&prepared, &call).unwrap();
        assert!(take_log().is_empty(), "checking launches nothing");
        enqueue(&prepared, &call, StreamRef::host(&stream)).unwrap();
        let log = take_log();
        kept.fetch();
        for kept in [&kept, &kept.clone(), &kept] {
            make(kept, StreamRef::host(&stream)).unwrap();
            assert_eq!(take_log(), log, "{tokens} rows");
        }
        assert_eq!(kept.args().input.data(), call.args.input.data());
        assert!(Arc::ptr_eq(kept.prepared(), &prepared));
    }
}

#[test]
fn it_is_refused_where_the_call_is() {
    let prepared = prepare::<TestNorm>(&runtime(), Request::new(norm()));
    let stream = stream();
    let whole = Call::new(&prepared, &[3]);
    type Break<'a> = (Clause, Box<dyn Fn(&mut TestNormArgs) + 'a>);
    let broken: Vec<Break<'_>> = vec![
        (Clause::Range, Box::new(|a| a.epsilon = f32::NAN)),
        (Clause::Presence, Box::new(|a| a.weight = Some(a.input))),
        (Clause::Null, Box::new(|a| a.out = a.out.with_data(std::ptr::null_mut()))),
        (Clause::Overlap, Box::new(|a| a.out = a.out.with_data(a.input.data().wrapping_add(64)))),
    ];
    for (clause, change) in broken {
        let mut call = Call::<TestNorm> { args: whole.args, workspace: whole.workspace, buffers: Vec::new() };
        change(&mut call.args);
        let refused = checked(&prepared, &call).map(drop);
        assert!(matches!(&refused, Err(EnqueueError::Contract(e)) if e.clause == clause), "{clause:?}: {refused:?}");
        assert_eq!(refused, enqueue(&prepared, &call, StreamRef::host(&stream)));
    }
    assert!(take_log().is_empty());
}

#[test]
fn its_workspace_is_checked_for_its_bucket() {
    let mut problem = TestAttentionProblem::new(8, 2, 64, DType::F32);
    problem.lse_dtype = Some(DType::F32);
    problem.bounds = Bounds::default().with(0, 32);
    let prepared = prepare::<TestAttention>(&runtime(), Request::new(problem).buckets("batch", &[4]).unwrap());
    let mut call = Call::new(&prepared, &[3, 2]);
    let (whole, small) = (call.workspace, 4 * 8 * 64 * 4);
    for (workspace, legal) in [
        (Workspace::NONE, false),
        (Workspace { scratch: (whole.scratch.0, small - 1), ..whole }, false),
        (Workspace { scratch: (whole.scratch.0, small), ..whole }, true),
    ] {
        call.workspace = workspace;
        let kept = checked(&prepared, &call);
        assert_eq!(kept.is_ok(), legal, "{workspace:?}");
        assert_eq!(kept.map(drop), enqueue(&prepared, &call, StreamRef::host(&stream())));
        // The bucket of more than four needs more.
        let many = Call { workspace, ..Call::new(&prepared, &[5, 2]) };
        assert!(checked(&prepared, &many).is_err(), "{workspace:?}");
    }
}

/// Case B12.
#[test]
fn b12_it_is_not_made_on_a_stream_of_another_device() {
    let prepared = prepare::<TestNorm>(&runtime(), Request::new(norm()));
    let call = Call::new(&prepared, &[3]);
    let kept = checked(&prepared, &call).unwrap();
    let foreign = HostStream::new(DeviceId::CPU, Arc::new(Serial));
    for recording in [false, true] {
        if recording {
            foreign.begin_capture().unwrap();
        }
        let refused = make(&kept, StreamRef::host(&foreign));
        assert_eq!(refused, enqueue(&prepared, &call, StreamRef::host(&foreign)));
        assert!(matches!(&refused, Err(EnqueueError::Contract(e)) if e.clause == Clause::Device), "{refused:?}");
    }
    assert_eq!(foreign.end_capture().unwrap().calls(), 0);
    assert!(take_log().is_empty());
}

#[test]
fn it_is_captured_as_the_call_is() {
    let prepared = prepare::<TestNorm>(&runtime(), Request::new(norm()).buckets("tokens", &[8]).unwrap());
    let (stream, call) = (stream(), Call::new(&prepared, &[20]));
    let kept = checked(&prepared, &call).unwrap();
    stream.begin_capture().unwrap();
    make(&kept, StreamRef::host(&stream)).unwrap();
    let graph = stream.end_capture().unwrap();
    assert!(take_log().is_empty(), "capturing launches nothing");
    drop(kept);
    graph.replay(StreamRef::host(&stream)).unwrap();
    assert_eq!(take_log(), ["enqueue noop.native.test_norm.wide"]);
}

struct Failing;

impl StreamBackend for Failing {
    fn synchronize(&self) -> Result<(), DeviceError> {
        Err(DeviceError::Driver { device: NOOP, code: 719, message: "launch failure".to_owned() })
    }
}

#[test]
fn it_is_waited_for_and_fails_as_the_call_does() {
    // SAFETY: clause 1 of `foreign`: the noop kernels do not follow the handle.
    let failing = unsafe { StreamRef::foreign(NOOP, std::ptr::null_mut(), &Failing) };
    for (variables, waits) in [(&[][..], false), (&[("OPWEAVE_SYNC", "1")], true)] {
        let prepared = prepare::<TestNorm>(&builder(variables).build(), Request::new(norm()));
        let call = Call::new(&prepared, &[3]);
        let result = make(&checked(&prepared, &call).unwrap(), failing);
        assert_eq!(result.is_err(), waits);
        assert_eq!(result, enqueue(&prepared, &call, failing));
    }
}

#[test]
fn its_fault_is_the_calls() {
    let mut problem = TestAttentionProblem::new(8, 2, 64, DType::F32);
    problem.bounds = Bounds::default().with(0, 32);
    let prepared = prepare::<TestAttention>(&runtime(), Request::new(problem));
    let mut call = Call::new(&prepared, &[1, 1]);
    let kept = checked(&prepared, &call).unwrap();
    let (stream, faults) = (stream(), HostFaults::default());
    make(&kept, StreamRef::host(&stream)).unwrap();
    // A call that is kept sees the contents that its memory has when it is made.
    let at = call.buffers.iter().position(|b| b.data() == call.args.slots.data()).unwrap();
    call.buffers[at].write(0, &16_i32.to_ne_bytes()).unwrap();
    let failed = make(&kept, StreamRef::host(&stream).with_faults(&faults));
    assert!(matches!(&failed, Err(EnqueueError::Launch { source: LaunchError::Fault(_), .. })), "{failed:?}");
    assert_eq!(failed, enqueue(&prepared, &call, StreamRef::host(&stream).with_faults(&HostFaults::default())));
}

#[test]
fn it_holds_what_it_launches_and_crosses_threads() {
    fn shared<T: Send + Sync + 'static>(value: T) -> T {
        value
    }
    let prepared = prepare::<TestNorm>(&runtime(), Request::new(norm()));
    let call = Call::new(&prepared, &[3]);
    let kept = shared(checked(&prepared, &call).unwrap());
    drop(prepared);
    let stream = stream();
    std::thread::scope(|scope| scope.spawn(|| make(&kept, StreamRef::host(&stream))).join()).unwrap().unwrap();
    assert_eq!(
        format!("{kept:?}"),
        "call of test_norm prepared for [hidden_size=64 dtype=f32 weight_dtype=none mode=fast] on noop:0"
    );
}
