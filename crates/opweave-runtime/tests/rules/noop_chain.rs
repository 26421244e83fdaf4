// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The whole chain without hardware: state, consider, select, prepare, bind, pack, enqueue, capture, replay, fault, and
//! every error on the way.

use std::sync::Arc;

use opweave_contract::{Bounds, Clause, Operator};
use opweave_device::cpu::{HostBuffer, Serial};
use opweave_device::noop::NoopDevice;
use opweave_device::{
    Buffer, Device, DeviceError, DeviceId, DeviceKind, FaultSink, Graph, HostFaults, HostStream, LaunchError,
    StreamBackend, StreamRef,
};
use opweave_registry::{EnqueueError, ExecutionMode, Prepared, Workspace};
use opweave_runtime::{Config, InitializeError, Request, Runtime};
use opweave_tensor::{DType, LayoutId, RawTensor};

use crate::support::call::Call;
use crate::support::kernel::{TestKernel, take_log};
use crate::support::operators::*;
use crate::support::world::{NOOP, builder, runtime};

/// Prepares one request on the first noop device.
pub(crate) fn prepare<O: Operator>(runtime: &Runtime, request: Request<O>) -> Arc<Prepared<O>> {
    let problem = *request.clone().erase().problem().get::<O>().unwrap();
    let bindings = runtime.initialize(&Config::new().device(NOOP).request(request)).unwrap();
    take_log();
    bindings.prepared::<O>(NOOP, &problem).unwrap()
}

pub(crate) fn stream() -> HostStream {
    HostStream::new(NOOP, Arc::new(Serial))
}

pub(crate) fn enqueue<O: Operator>(
    prepared: &Prepared<O>,
    call: &Call<O>,
    stream: StreamRef<'_>,
) -> Result<(), EnqueueError> {
    // SAFETY: the clauses of `Prepared::enqueue`: the call owns its memory, which is host memory, and nobody else uses it.
    unsafe { prepared.enqueue(&call.args, call.workspace, stream) }
}

fn unchecked<O: Operator>(prepared: &Prepared<O>, call: &Call<O>, stream: StreamRef<'_>) -> Result<(), EnqueueError> {
    // SAFETY: as for `enqueue`, and the callers pass calls that the check accepts.
    unsafe { prepared.enqueue_unchecked(&call.args, call.workspace, stream) }
}

pub(crate) fn norm() -> TestNormProblem {
    TestNormProblem::new(64, DType::F32)
}

fn attention() -> TestAttentionProblem {
    let mut problem = TestAttentionProblem::new(8, 2, 64, DType::F32);
    problem.lse_dtype = Some(DType::F32);
    problem.bounds = Bounds::default().with(0, 32);
    problem
}

#[test]
fn a_norm_goes_through_the_whole_chain() {
    let runtime = runtime();
    let prepared = prepare::<TestNorm>(&runtime, Request::new(norm()).buckets("tokens", &[8, 64]).unwrap());
    let chosen: Vec<String> =
        prepared.records().iter().map(|r| format!("{} {}", r.bucket, r.spec.variant.clone().unwrap())).collect();
    assert_eq!(chosen, ["0..=8 atomic", "9..=64 wide", "65.. wide"]);
    assert_eq!((prepared.mode(), prepared.device(), prepared.generation()), (ExecutionMode::Graph, NOOP, 11));
    let (device, stream) = (NoopDevice::new(0, &[]), stream());
    assert_eq!(device.id(), prepared.device());
    for (tokens, row) in [(0, "atomic"), (8, "atomic"), (9, "wide"), (64, "wide"), (65, "wide"), (1000, "wide")] {
        let call = Call::new(&prepared, &[tokens]);
        assert_eq!(prepared.check(&call.args).unwrap().as_slice(), [tokens]);
        enqueue(&prepared, &call, StreamRef::host(&stream)).unwrap();
        unchecked(&prepared, &call, StreamRef::host(&stream)).unwrap();
        let line = format!("enqueue noop.native.test_norm.{row}");
        assert_eq!(take_log(), [line.clone(), line], "{tokens} rows");
    }
}

#[test]
fn a_call_that_breaks_the_contract_launches_nothing() {
    let runtime = runtime();
    let prepared = prepare::<TestNorm>(&runtime, Request::new(norm()));
    let stream = stream();
    let whole = Call::new(&prepared, &[3]);
    let elsewhere = |v: RawTensor, device| RawTensor::contiguous(v.data(), v.dtype(), device, v.shape()).unwrap();
    type Break<'a> = (&'a str, Clause, &'a str, Box<dyn Fn(&mut TestNormArgs) + 'a>);
    let noop1 = DeviceId::new(DeviceKind::Noop, 1);
    let broken: Vec<Break<'_>> = vec![
        ("nan", Clause::Range, "epsilon", Box::new(|a| a.epsilon = f32::NAN)),
        ("foreign memory", Clause::Device, "input", Box::new(|a| a.input = elsewhere(a.input, noop1))),
        ("memory of the host", Clause::Device, "out", Box::new(|a| a.out = elsewhere(a.out, DeviceId::CPU))),
        ("a weight too many", Clause::Presence, "weight", Box::new(|a| a.weight = Some(a.input))),
        ("null", Clause::Null, "out", Box::new(|a| a.out = a.out.with_data(std::ptr::null_mut()))),
        (
            "half an alias",
            Clause::Overlap,
            "out",
            Box::new(|a| a.out = a.out.with_data(a.input.data().wrapping_add(64))),
        ),
    ];
    for (name, clause, argument, change) in broken {
        let mut call = Call::<TestNorm> { args: whole.args, workspace: whole.workspace, buffers: Vec::new() };
        change(&mut call.args);
        let Err(EnqueueError::Contract(error)) = enqueue(&prepared, &call, StreamRef::host(&stream)) else {
            panic!("{name} was not refused");
        };
        assert_eq!((error.clause, error.argument), (clause, argument), "{name}: {error}");
        assert!(take_log().is_empty(), "{name} launched something");
    }
    let mut exact = Call::<TestNorm> { args: whole.args, workspace: whole.workspace, buffers: Vec::new() };
    exact.args.out = exact.args.input;
    enqueue(&prepared, &exact, StreamRef::host(&stream)).unwrap();
}

/// Case B12: a stream of another device, and of another kind.
#[test]
fn b12_a_stream_of_another_device_is_refused() {
    let prepared = prepare::<TestNorm>(&runtime(), Request::new(norm()));
    let call = Call::new(&prepared, &[3]);
    for device in [DeviceId::new(DeviceKind::Noop, 1), DeviceId::CPU] {
        let foreign = HostStream::new(device, Arc::new(Serial));
        let error = enqueue(&prepared, &call, StreamRef::host(&foreign)).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("test_norm: argument `stream` breaks the device clause: expected noop:0, got {device}")
        );
    }
    assert!(take_log().is_empty());
}

/// Case B12: two threads, each with its device, do not meet.
#[test]
fn b12_devices_of_two_threads_are_independent() {
    let runtime = runtime();
    let second = DeviceId::new(DeviceKind::Noop, 1);
    let config = Config::new().device(NOOP).device(second).request(Request::<TestNorm>::new(norm()));
    let bindings = runtime.initialize(&config).unwrap();
    std::thread::scope(|scope| {
        for device in [NOOP, second] {
            let bindings = &bindings;
            scope.spawn(move || {
                let prepared = bindings.prepared::<TestNorm>(device, &norm()).unwrap();
                let stream = HostStream::new(device, Arc::new(Serial));
                let call = Call::new(&prepared, &[4]);
                assert_eq!(call.args.out.device(), device);
                take_log();
                for _ in 0..100 {
                    enqueue(&prepared, &call, StreamRef::host(&stream)).unwrap();
                }
                assert_eq!(take_log().len(), 100);
            });
        }
    });
}

#[test]
fn a_linear_layer_is_packed_once_for_all_its_buckets() {
    let problem = TestLinearProblem::new(32, 16, DType::F32);
    let prepared = prepare::<TestLinear>(&runtime(), Request::new(problem).buckets("tokens", &[8]).unwrap());
    let rows: Vec<&str> = prepared.records().iter().map(|r| r.spec.name.as_str()).collect();
    assert_eq!(rows, ["noop.native.test_linear.small", "noop.native.test_linear.tiled"]);
    let layout = prepared.packed().unwrap();
    assert_eq!((layout.id, layout.bytes, layout.align), (LayoutId::of("tiles of 16 columns"), 2048, 64));

    let stream = stream();
    let plain = HostBuffer::new(NOOP, 2048, 64).unwrap();
    let source = RawTensor::contiguous(plain.data(), DType::F32, NOOP, &[16, 32]).unwrap();
    let call = Call::new(&prepared, &[3]);
    // SAFETY: clause 1 of `pack`: `source` is the weight of the problem, and the target has the layout's bytes.
    unsafe { prepared.pack(&source, call.args.weight.data(), StreamRef::host(&stream)) }.unwrap();
    let mut packed = [0; 2048];
    call.buffers[1].read(0, &mut packed).unwrap();
    assert_eq!(packed, [0x5a; 2048]);
    enqueue(&prepared, &call, StreamRef::host(&stream)).unwrap();
    enqueue(&prepared, &Call::new(&prepared, &[9]), StreamRef::host(&stream)).unwrap();
    assert_eq!(take_log()[1..], ["enqueue noop.native.test_linear.small", "enqueue noop.native.test_linear.tiled"]);
}

#[test]
fn a_weight_that_is_not_packed_as_the_plan_wants_is_refused() {
    let prepared = prepare::<TestLinear>(&runtime(), Request::new(TestLinearProblem::new(32, 16, DType::F32)));
    let (layout, stream) = (prepared.packed().unwrap().clone(), stream());
    let memory = HostBuffer::new(NOOP, 4096, 128).unwrap();
    let weights = [
        ("plain", RawTensor::contiguous(memory.data(), DType::F32, NOOP, &[16, 32]).unwrap(), Clause::Layout),
        ("another id", RawTensor::packed(memory.data(), NOOP, layout.bytes, LayoutId(9)), Clause::Layout),
        ("too short", RawTensor::packed(memory.data(), NOOP, layout.bytes - 1, layout.id), Clause::Layout),
        (
            "misaligned",
            RawTensor::packed(memory.data().wrapping_add(32), NOOP, layout.bytes, layout.id),
            Clause::Alignment,
        ),
    ];
    for (name, weight, clause) in weights {
        let mut call = Call::new(&prepared, &[3]);
        call.args.weight = weight;
        let Err(EnqueueError::Contract(error)) = enqueue(&prepared, &call, StreamRef::host(&stream)) else {
            panic!("{name} was not refused");
        };
        assert_eq!((error.argument, error.clause), ("weight", clause), "{name}: {error}");
    }
    assert!(take_log().is_empty());
}

#[test]
fn buckets_of_one_weight_share_a_layout_or_are_refused() {
    let mut problem = TestLinearProblem::new(32, 16, DType::F32);
    problem.packing = Packing::Apart;
    let request = Request::<TestLinear>::new(problem).buckets("tokens", &[8]).unwrap();
    let error = runtime().initialize(&Config::new().device(NOOP).request(request)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "test_linear: bucket 0..=8 packs its weight as `tiles of 8 columns`, bucket 9.. as `tiles of 16 columns`; \
         buckets of one weight share a layout"
    );
}

#[test]
fn a_plan_without_a_layout_packs_nothing() {
    let config = Config::new().device(NOOP).override_with("test_linear", "reference");
    let problem = TestLinearProblem::new(32, 16, DType::F32);
    let bindings = runtime().initialize(&config.request(Request::<TestLinear>::new(problem))).unwrap();
    let prepared = bindings.prepared::<TestLinear>(NOOP, &problem).unwrap();
    assert!(prepared.packed().is_none());
    let call = Call::new(&prepared, &[3]);
    assert_eq!(call.args.weight.layout(), LayoutId::PLAIN);
    let stream = stream();
    enqueue(&prepared, &call, StreamRef::host(&stream)).unwrap();
    // SAFETY: clause 1 of `pack`: the views are valid; the plan refuses before it looks at them.
    let packed = unsafe { prepared.pack(&call.args.weight, call.args.weight.data(), StreamRef::host(&stream)) };
    let error = packed.unwrap_err().to_string();
    assert!(error.contains("noop.reference.test_linear packs nothing"), "{error}");
}

#[test]
fn workspace_is_sized_from_the_bounds_and_checked() {
    let prepared = prepare::<TestAttention>(&runtime(), Request::new(attention()).buckets("batch", &[4]).unwrap());
    let regions = prepared.workspace();
    assert_eq!((regions.scratch.bytes, regions.scratch.align), (32 * 8 * 64 * 4, 256));
    assert_eq!((regions.zeroed.bytes, regions.zeroed.align), (32 * 4, 64));
    let stream = stream();
    let mut call = Call::new(&prepared, &[3, 2]);
    enqueue(&prepared, &call, StreamRef::host(&stream)).unwrap();
    assert_eq!(take_log(), ["enqueue noop.native.test_attention", "workspace 65536 128"]);

    let whole = call.workspace;
    let small = 4 * 8 * 64 * 4;
    let cases: &[(&str, Workspace, Option<&str>)] = &[
        ("none", Workspace::NONE, Some("workspace.scratch")),
        ("no zeroed", Workspace { zeroed: (std::ptr::null_mut(), 128), ..whole }, Some("workspace.zeroed")),
        ("a byte short", Workspace { scratch: (whole.scratch.0, small - 1), ..whole }, Some("workspace.scratch")),
        (
            "misaligned",
            Workspace { scratch: (whole.scratch.0.wrapping_add(64), small), ..whole },
            Some("workspace.scratch"),
        ),
        ("what this bucket needs", Workspace { scratch: (whole.scratch.0, small), ..whole }, None),
    ];
    for (name, workspace, refused) in cases {
        call.workspace = *workspace;
        match (enqueue(&prepared, &call, StreamRef::host(&stream)), refused) {
            (Ok(()), None) => assert_eq!(take_log().len(), 2, "{name}"),
            (Err(EnqueueError::Contract(e)), Some(argument)) => {
                assert_eq!((e.clause, e.argument), (Clause::Workspace, *argument), "{name}: {e}");
                assert!(take_log().is_empty(), "{name}");
            }
            (result, _) => panic!("{name}: {result:?}"),
        }
    }
}

#[test]
fn workspace_without_a_bound_is_a_prepare_error() {
    let mut problem = attention();
    problem.bounds = Bounds::default();
    let request = Request::<TestAttention>::new(problem);
    let error = runtime().initialize(&Config::new().device(NOOP).request(request)).unwrap_err();
    assert!(matches!(error, InitializeError::Prepare { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("noop.native.test_attention cannot be prepared for [num_heads=8"), "{text}");
    assert!(text.ends_with("workspace depends on batch, which the problem does not bound; state batch.max"), "{text}");
}

#[test]
fn arguments_beyond_the_bounds_are_refused() {
    let prepared = prepare::<TestAttention>(&runtime(), Request::new(attention()));
    let stream = stream();
    assert!(enqueue(&prepared, &Call::new(&prepared, &[32, 2]), StreamRef::host(&stream)).is_ok());
    take_log();
    let error = enqueue(&prepared, &Call::new(&prepared, &[33, 2]), StreamRef::host(&stream)).unwrap_err();
    assert!(error.to_string().contains("breaks the bound clause: expected batch of at most 32"), "{error}");
    assert!(take_log().is_empty());
}

#[test]
fn a_slot_outside_the_cache_is_a_fault_of_the_call_and_of_its_buffer() {
    let prepared = prepare::<TestAttention>(&runtime(), Request::new(attention()));
    let (stream, faults) = (stream(), HostFaults::default());
    let mut call = Call::new(&prepared, &[3, 2]);
    // Two pages of sixteen slots.
    let slots = [0_i32, 32, 99].map(i32::to_ne_bytes).concat();
    let at = call.buffers.iter().position(|b| b.data() == call.args.slots.data()).unwrap();
    call.buffers[at].write(0, &slots).unwrap();
    let error = enqueue(&prepared, &call, StreamRef::host(&stream).with_faults(&faults)).unwrap_err();
    assert!(error.to_string().ends_with("test_attention: slot outside the cache in row 1"), "{error}");
    let fault = faults.take().unwrap().unwrap();
    assert_eq!((fault.row, fault.clause), (1, 0), "the first offending row");
    assert_eq!(fault.operation, opweave_device::operation_code("test_attention"));
    assert_eq!(faults.take().unwrap(), None);
    // Without a buffer the host still says so, and the next call is whole.
    assert!(enqueue(&prepared, &call, StreamRef::host(&stream)).is_err());
    call.buffers[at].write(0, &[0; 12]).unwrap();
    assert!(enqueue(&prepared, &call, StreamRef::host(&stream)).is_ok());
}

#[test]
fn capture_records_and_replay_runs_what_was_recorded() {
    let prepared = prepare::<TestNorm>(&runtime(), Request::new(norm()).buckets("tokens", &[8]).unwrap());
    let device = NoopDevice::new(0, &[]);
    let stream = device.stream().unwrap();
    let (few, many) = (Call::new(&prepared, &[2]), Call::new(&prepared, &[20]));
    stream.begin_capture().unwrap();
    enqueue(&prepared, &few, stream.borrow()).unwrap();
    unchecked(&prepared, &many, stream.borrow()).unwrap();
    let mut broken = Call::<TestNorm> { args: few.args, workspace: few.workspace, buffers: Vec::new() };
    broken.args.epsilon = -1.0;
    assert!(enqueue(&prepared, &broken, stream.borrow()).is_err(), "a capture is checked like a call");
    let graph: Box<dyn Graph> = stream.end_capture().unwrap();
    assert_eq!(graph.calls(), 2);
    assert!(take_log().is_empty(), "capturing launches nothing");
    for _ in 0..3 {
        graph.replay(stream.borrow()).unwrap();
        assert_eq!(take_log(), ["enqueue noop.native.test_norm.atomic", "enqueue noop.native.test_norm.wide"]);
    }
    // A graph holds what it launches, whoever else lets go.
    drop(prepared);
    graph.replay(stream.borrow()).unwrap();
    assert_eq!(take_log().len(), 2);
}

#[test]
fn a_replayed_fault_stops_the_replay_and_reaches_the_streams_buffer() {
    let prepared = prepare::<TestAttention>(&runtime(), Request::new(attention()));
    let (stream, faults) = (stream(), HostFaults::default());
    let mut call = Call::new(&prepared, &[1, 1]);
    stream.begin_capture().unwrap();
    enqueue(&prepared, &call, StreamRef::host(&stream)).unwrap();
    let graph = stream.end_capture().unwrap();
    graph.replay(StreamRef::host(&stream)).unwrap();
    // The graph sees the contents that its memory has now.
    let at = call.buffers.iter().position(|b| b.data() == call.args.slots.data()).unwrap();
    call.buffers[at].write(0, &16_i32.to_ne_bytes()).unwrap();
    let error = graph.replay(StreamRef::host(&stream).with_faults(&faults)).unwrap_err();
    let LaunchError::Replay { call: named, source } = &error else { panic!("{error}") };
    assert!(matches!(**source, LaunchError::Fault(_)), "{error}");
    assert!(named.starts_with("test_attention: kernel `noop.") && named.contains("problem ["), "{error}");
    assert_eq!(faults.take().unwrap().unwrap().row, 0);
}

#[test]
fn a_row_for_eager_mode_cannot_be_captured() {
    let config = Config::new().device(NOOP).mode(ExecutionMode::Eager).request(Request::<TestNorm>::new(norm()));
    let bindings = runtime().initialize(&config).unwrap();
    let prepared = bindings.prepared::<TestNorm>(NOOP, &norm()).unwrap();
    assert_eq!(prepared.records()[0].spec.name, "noop.native.test_norm.eager");
    let (stream, call) = (stream(), Call::new(&prepared, &[3]));
    enqueue(&prepared, &call, StreamRef::host(&stream)).unwrap();
    stream.begin_capture().unwrap();
    let error = enqueue(&prepared, &call, StreamRef::host(&stream)).unwrap_err().to_string();
    assert!(error.contains("noop.native.test_norm.eager cannot be captured: it runs in eager mode only"), "{error}");
    assert_eq!(stream.end_capture().unwrap().calls(), 0);
}

#[test]
fn a_kernel_that_cannot_be_prepared_says_what_and_where() {
    let config = Config::new().device(NOOP).override_with("test_norm", "broken");
    let error = runtime().initialize(&config.request(Request::<TestNorm>::new(norm()))).unwrap_err().to_string();
    assert_eq!(
        error,
        "noop.broken.test_norm cannot be prepared for [hidden_size=64 dtype=f32 weight_dtype=none mode=fast] on noop:0: \
         noop:0: driver error 2: no memory for the module"
    );
}

struct Failing;

impl StreamBackend for Failing {
    fn synchronize(&self) -> Result<(), DeviceError> {
        Err(DeviceError::Driver { device: NOOP, code: 719, message: "launch failure".to_owned() })
    }
}

/// A stream that the driver captures, and that must not be waited for.
struct Capturing;

impl StreamBackend for Capturing {
    fn synchronize(&self) -> Result<(), DeviceError> {
        Failing.synchronize()
    }

    fn is_capturing(&self) -> bool {
        true
    }
}

#[test]
fn sync_does_not_wait_for_a_stream_that_is_captured() {
    // SAFETY: clause 1 of `foreign`: the noop kernels do not follow the handle.
    let stream = unsafe { StreamRef::foreign(NOOP, std::ptr::null_mut(), &Capturing) };
    let prepared = prepare::<TestNorm>(&builder(&[("OPWEAVE_SYNC", "1")]).build(), Request::new(norm()));
    assert_eq!(enqueue(&prepared, &Call::new(&prepared, &[3]), stream), Ok(()));
}

/// `OPWEAVE_SYNC=1`: the call that fails is the one that is named.
#[test]
fn sync_names_operator_kernel_problem_and_stream() {
    let raw = std::ptr::without_provenance_mut(0x70);
    // SAFETY: clause 1 of `foreign`: the noop kernels do not follow the handle.
    let stream = unsafe { StreamRef::foreign(NOOP, raw, &Failing) };
    let enqueue_with = |variables: &[(&str, &str)]| {
        let prepared = prepare::<TestNorm>(&builder(variables).build(), Request::new(norm()));
        let call = Call::new(&prepared, &[3]);
        (enqueue(&prepared, &call, stream), unchecked(&prepared, &call, stream))
    };
    for off in [&[][..], &[("OPWEAVE_SYNC", "0")], &[("OPWEAVE_SYNC", " ")], &[("OPWEAVE_SYNC", "false")]] {
        assert_eq!(enqueue_with(off), (Ok(()), Ok(())), "{off:?}: nothing synchronises");
    }
    let (checked, unchecked) = enqueue_with(&[("OPWEAVE_SYNC", "1")]);
    assert_eq!(checked, unchecked);
    assert_eq!(
        checked.unwrap_err().to_string(),
        "test_norm: kernel `noop.native.test_norm.wide` failed for problem \
         [hidden_size=64 dtype=f32 weight_dtype=none mode=fast] on stream 0x70 of noop:0: \
         noop:0: driver error 719: launch failure"
    );
}

#[test]
fn sync_leaves_a_capture_alone() {
    let prepared = prepare::<TestNorm>(&builder(&[("OPWEAVE_SYNC", "1")]).build(), Request::new(norm()));
    let (stream, call) = (stream(), Call::new(&prepared, &[3]));
    stream.begin_capture().unwrap();
    enqueue(&prepared, &call, StreamRef::host(&stream)).unwrap();
    let graph = stream.end_capture().unwrap();
    graph.replay(StreamRef::host(&stream)).unwrap();
    assert_eq!(take_log().len(), 1);
}

/// Case B17: a launch that fails is the error of its own call, and the next call is whole.
#[test]
fn b17_a_failed_launch_is_the_error_of_its_call_alone() {
    fn launch(args: &TestNormArgs, _: Workspace, _: StreamRef<'_>) -> Result<(), LaunchError> {
        match args.input.dim(0) {
            7 => Err(DeviceError::Driver { device: NOOP, code: 1, message: "invalid configuration".into() }.into()),
            _ => Ok(()),
        }
    }
    let spec = crate::registry_rules::row("a", 0);
    let kernel = TestKernel::<TestNorm> { launch, ..TestKernel::new(spec.clone()) };
    let (key, bucket) = (opweave_device::DeviceKey::noop(&[]), opweave_registry::Bucket::ALL);
    let context = opweave_registry::PrepareContext { device: NOOP, key: &key, bucket, communicator: None };
    let plan = opweave_registry::Kernel::prepare(&kernel, &norm(), &context).unwrap();
    let record = opweave_registry::Record { bucket, spec, considered: Vec::new(), because: String::new() };
    let (buckets, mode) = (opweave_registry::Buckets::none(), ExecutionMode::Graph);
    let prepared = Prepared::new(norm(), NOOP, key.clone(), mode, 0, buckets, vec![(plan, record)]).unwrap();
    let stream = stream();
    let call = |rows: usize| enqueue(&prepared, &Call::new(&prepared, &[rows]), StreamRef::host(&stream));
    assert_eq!(call(6), Ok(()));
    let error = call(7).unwrap_err().to_string();
    assert!(error.starts_with("test_norm: kernel `a` failed for problem [hidden_size=64"), "{error}");
    assert!(error.ends_with("driver error 1: invalid configuration"), "{error}");
    assert_eq!(call(8), Ok(()));
    // What was put together by hand synchronises only where it is told to.
    // SAFETY: clause 1 of `foreign`: the noop kernels do not follow the handle.
    let failing = unsafe { StreamRef::foreign(NOOP, std::ptr::null_mut(), &Failing) };
    let eight = Call::new(&prepared, &[8]);
    assert_eq!(enqueue(&prepared, &eight, failing), Ok(()));
    assert!(enqueue(&prepared.synchronising(true), &eight, failing).is_err());
}

#[test]
fn two_threads_enqueue_one_plan_on_two_streams_with_two_workspaces() {
    let prepared = prepare::<TestAttention>(&runtime(), Request::new(attention()));
    std::thread::scope(|scope| {
        for batch in [1, 7] {
            let prepared = &prepared;
            scope.spawn(move || {
                let (stream, call) = (stream(), Call::new(prepared, &[batch, 2]));
                for _ in 0..50 {
                    enqueue(prepared, &call, StreamRef::host(&stream)).unwrap();
                }
                assert_eq!(take_log().len(), 100);
            });
        }
    });
}

#[test]
fn inference_describes_the_outputs_of_the_call() {
    let prepared = prepare::<TestAttention>(&runtime(), Request::new(attention()));
    let call = Call::new(&prepared, &[3, 2]);
    let dims = prepared.check(&call.args).unwrap();
    let outputs = prepared.specs().outputs(&dims);
    let real = [("out", call.args.out), ("lse", call.args.lse.unwrap())];
    assert_eq!(outputs.len(), real.len());
    for (inferred, (name, view)) in outputs.iter().zip(real) {
        assert_eq!((inferred.name, inferred.shape.as_slice()), (name, view.shape()));
        assert_eq!((inferred.dtype, inferred.device), (view.dtype(), view.device()));
    }
    // The same without a device: from the problem alone.
    let specs = TestAttention::describe(&attention());
    assert_eq!(specs.outputs(&dims)[0].shape, [3, 8, 64]);
}

/// After initialize nothing looks at the environment again: not a late preparation, not a call.
#[test]
fn calls_read_the_environment_no_more() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    let environment = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        opweave_runtime::Environment::default()
    };
    let runtime = builder(&[]).environment(environment).build();
    let bindings = runtime.initialize(&Config::new().device(NOOP).operations(["test_norm"])).unwrap();
    assert_eq!(reads.load(Ordering::Relaxed), 1);
    let prepared = bindings.prepare(NOOP, Request::<TestNorm>::new(norm())).unwrap();
    let (stream, call) = (stream(), Call::new(&prepared, &[3]));
    enqueue(&prepared, &call, StreamRef::host(&stream)).unwrap();
    unchecked(&prepared, &call, StreamRef::host(&stream)).unwrap();
    bindings.prepared::<TestNorm>(NOOP, &norm()).unwrap();
    assert_eq!(reads.load(Ordering::Relaxed), 1);
}

/// A launch runs under no lock: while it runs, another thread calls the same prepared operator and prepares more.
#[test]
fn a_launch_holds_no_lock() {
    use std::sync::{OnceLock, mpsc};
    static BINDINGS: OnceLock<Arc<opweave_runtime::Bindings>> = OnceLock::new();
    static PREPARED: OnceLock<Prepared<TestNorm>> = OnceLock::new();
    fn meanwhile() {
        let bindings = BINDINGS.get().unwrap();
        bindings.prepare(NOOP, Request::<TestNorm>::new(TestNormProblem::new(8, DType::F32))).unwrap();
        let (prepared, stream) = (PREPARED.get().unwrap(), stream());
        // Three rows make the outer call, none the inner one.
        enqueue(prepared, &Call::new(prepared, &[0]), StreamRef::host(&stream)).unwrap();
    }
    fn launch(args: &TestNormArgs, _: Workspace, _: StreamRef<'_>) -> Result<(), LaunchError> {
        if args.input.dim(0) == 0 {
            return Ok(());
        }
        let (done, wait) = mpsc::channel();
        std::thread::spawn(move || {
            meanwhile();
            done.send(())
        });
        wait.recv_timeout(std::time::Duration::from_secs(10)).map_err(|e| LaunchError::Refused(e.to_string()))
    }
    let bindings = runtime().initialize(&Config::new().device(NOOP).operations(["test_norm"])).unwrap();
    assert!(BINDINGS.set(bindings).is_ok());
    let spec = crate::registry_rules::row("a", 0);
    let kernel = TestKernel::<TestNorm> { launch, ..TestKernel::new(spec.clone()) };
    let key = opweave_device::DeviceKey::noop(&[]);
    let bucket = opweave_registry::Bucket::ALL;
    let context = opweave_registry::PrepareContext { device: NOOP, key: &key, bucket, communicator: None };
    let plan = opweave_registry::Kernel::prepare(&kernel, &norm(), &context).unwrap();
    let record = opweave_registry::Record { bucket, spec, considered: Vec::new(), because: String::new() };
    let (buckets, mode) = (opweave_registry::Buckets::none(), ExecutionMode::Graph);
    let prepared = Prepared::new(norm(), NOOP, key.clone(), mode, 0, buckets, vec![(plan, record)]).unwrap();
    let prepared = PREPARED.get_or_init(|| prepared);
    let (stream, call) = (stream(), Call::new(prepared, &[3]));
    enqueue(prepared, &call, StreamRef::host(&stream)).unwrap();
}

/// What the invariant asks of types.
#[test]
fn a_prepared_operator_is_immutable_and_crosses_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Prepared<TestNorm>>();
    shared::<Arc<dyn opweave_registry::Plan<TestLinear>>>();
    shared::<opweave_runtime::Bindings>();
    shared::<Runtime>();
    // It outlives the runtime that made it.
    let prepared = {
        let runtime = runtime();
        prepare::<TestNorm>(&runtime, Request::new(norm()))
    };
    let (stream, call) = (stream(), Call::new(&prepared, &[3]));
    assert!(enqueue(&prepared, &call, StreamRef::host(&stream)).is_ok());
    assert_eq!(
        format!("{prepared:?}"),
        "test_norm prepared for [hidden_size=64 dtype=f32 weight_dtype=none mode=fast] on noop:0"
    );
}
