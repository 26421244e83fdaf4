// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Host streams: capture and its states, replay, events.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use opweave_device::cpu::{CpuDevice, HostEvent, Serial};
use opweave_device::{
    Device, DeviceError, DeviceId, DeviceKind, Event, FaultSink, Graph, HostFaults, HostStream, LaunchError, RawFault,
    StreamBackend, StreamRef,
};

const NOOP: DeviceId = DeviceId::new(DeviceKind::Noop, 0);

fn stream(device: DeviceId) -> HostStream {
    HostStream::new(device, Arc::new(Serial))
}

fn state_of(error: DeviceError) -> String {
    match error {
        DeviceError::State { what, .. } => what,
        other => panic!("not a state error: {other}"),
    }
}

#[test]
fn capture_has_a_beginning_and_an_end() {
    let stream = stream(NOOP);
    let end = |s: &HostStream| state_of(s.end_capture().map(|_| ()).unwrap_err());
    assert_eq!(end(&stream), "no capture is under way");
    let call = || Box::new(|_: StreamRef<'_>| Ok(()));
    assert_eq!(state_of(stream.record(call()).unwrap_err()), "no capture is under way");
    assert!(!StreamRef::host(&stream).is_recording());

    stream.begin_capture().unwrap();
    assert!(StreamRef::host(&stream).is_recording());
    assert_eq!(state_of(stream.begin_capture().unwrap_err()), "a capture is already under way");
    stream.record(call()).unwrap();
    stream.record(call()).unwrap();
    assert!(state_of(StreamBackend::synchronize(&stream).unwrap_err()).contains("while it captures"));
    let graph = stream.end_capture().unwrap();
    assert_eq!(graph.calls(), 2);
    assert!(StreamBackend::synchronize(&stream).is_ok());
    assert_eq!(end(&stream), "no capture is under way");
}

#[test]
fn a_refused_capture_leaves_the_one_under_way_alone() {
    let stream = stream(NOOP);
    stream.begin_capture().unwrap();
    stream.record(Box::new(|_| Ok(()))).unwrap();
    assert!(stream.begin_capture().is_err());
    assert_eq!(stream.end_capture().unwrap().calls(), 1);
}

#[test]
fn replay_runs_the_calls_in_order_each_time_and_stops_at_the_first_error() {
    let stream = stream(NOOP);
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    stream.begin_capture().unwrap();
    for index in 0..4 {
        let order = Arc::clone(&order);
        let call = move |_: StreamRef<'_>| {
            order.lock().unwrap().push(index);
            if index == 2 { Err(LaunchError::Refused("told to".to_owned())) } else { Ok(()) }
        };
        stream.record(Box::new(call)).unwrap();
    }
    let graph = stream.end_capture().unwrap();
    assert!(order.lock().unwrap().is_empty(), "capturing runs nothing");
    for _ in 0..2 {
        let error = graph.replay(StreamRef::host(&stream)).unwrap_err();
        assert_eq!(error, LaunchError::Refused("told to".to_owned()));
    }
    assert_eq!(*order.lock().unwrap(), [0, 1, 2, 0, 1, 2]);
}

#[test]
fn a_graph_is_replayed_on_its_device_and_not_into_a_capture() {
    let (here, there) = (stream(NOOP), stream(DeviceId::new(DeviceKind::Noop, 1)));
    let ran = Arc::new(AtomicUsize::new(0));
    here.begin_capture().unwrap();
    let count = Arc::clone(&ran);
    here.record(Box::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }))
    .unwrap();
    let graph = here.end_capture().unwrap();
    let refused = |stream: &HostStream| match graph.replay(StreamRef::host(stream)).unwrap_err() {
        LaunchError::Device(error) => state_of(error),
        other => panic!("not a device error: {other}"),
    };
    assert_eq!(refused(&there), "a graph of noop:0 cannot be replayed on noop:1");
    here.begin_capture().unwrap();
    assert_eq!(refused(&here), "a graph cannot be replayed into a capture");
    here.end_capture().unwrap();
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    graph.replay(StreamRef::host(&here)).unwrap();
    assert_eq!(ran.load(Ordering::Relaxed), 1);
}

#[test]
fn a_fault_buffer_travels_with_the_stream_of_the_replay() {
    let stream = stream(NOOP);
    stream.begin_capture().unwrap();
    let raise = |s: StreamRef<'_>| {
        s.faults().unwrap().raise(RawFault { operation: 1, clause: 0, row: 6 });
        Ok(())
    };
    stream.record(Box::new(raise)).unwrap();
    let graph = stream.end_capture().unwrap();
    let faults = HostFaults::default();
    graph.replay(StreamRef::host(&stream).with_faults(&faults)).unwrap();
    assert_eq!(faults.take().unwrap().unwrap().row, 6);
    assert!(StreamRef::host(&stream).faults().is_none());
}

#[test]
fn a_drivers_stream_records_nothing_by_itself() {
    struct Driver;
    impl StreamBackend for Driver {
        fn synchronize(&self) -> Result<(), DeviceError> {
            Err(DeviceError::Driver { device: NOOP, code: 719, message: "launch failure".to_owned() })
        }
    }
    let raw = std::ptr::without_provenance_mut(64);
    // SAFETY: clause 1 of `foreign`: nothing here follows the handle.
    let stream = unsafe { StreamRef::foreign(NOOP, raw, &Driver) };
    assert!(!stream.is_recording());
    assert!(state_of(stream.record(Box::new(|_| Ok(()))).unwrap_err()).contains("captures by itself"));
    assert_eq!(stream.raw(), raw);
    assert_eq!(stream.pool().threads(), 1);
    assert!(matches!(stream.synchronize(), Err(DeviceError::Driver { code: 719, .. })));
    assert_eq!(format!("{stream:?}"), "stream 0x40 of noop:0");
}

#[test]
fn events_measure_between_two_moments_of_one_device() {
    let device = CpuDevice::new(Arc::new(Serial));
    let stream = device.stream().unwrap();
    let (mut first, mut second) = (stream.event().unwrap(), stream.event().unwrap());
    let what = |r: Result<f64, DeviceError>| state_of(r.unwrap_err());
    assert_eq!(what(second.elapsed_us(&*first)), "an event was not recorded");
    first.record(stream.borrow()).unwrap();
    assert_eq!(what(second.elapsed_us(&*first)), "an event was not recorded");
    second.record(stream.borrow()).unwrap();
    assert!(second.elapsed_us(&*first).unwrap() >= 0.0);
    assert_eq!(first.elapsed_us(&*second).unwrap(), 0.0, "never negative");
    let mut elsewhere = HostEvent::new(NOOP);
    elsewhere.record(stream.borrow()).unwrap();
    assert_eq!(what(second.elapsed_us(&elsewhere)), "events of two devices");
}
