// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Case B14: devices, buffers and streams are dropped in any order and on any thread.

use std::sync::Arc;

use opweave_device::cpu::{CpuDevice, Pool, Serial};
use opweave_device::noop::NoopDevice;
use opweave_device::{Device, Stream};

fn devices() -> Vec<Box<dyn Device>> {
    let pool = Pool::new(std::num::NonZero::new(2).unwrap()).unwrap();
    vec![
        Box::new(NoopDevice::new(0, &[])),
        Box::new(CpuDevice::new(Arc::new(Serial))),
        Box::new(CpuDevice::new(Arc::new(pool))),
    ]
}

#[test]
fn b14_a_buffer_outlives_its_device_and_dies_on_another_thread() {
    for device in devices() {
        let other = NoopDevice::new(1, &[]);
        let mut buffer = device.allocate(64, 64).unwrap();
        let stream = device.stream().unwrap();
        drop(other);
        drop(device);
        buffer.write(0, &[7; 64]).unwrap();
        let thread = std::thread::spawn(move || {
            let mut back = [0; 64];
            buffer.read(0, &mut back).unwrap();
            drop(buffer);
            stream.synchronize().unwrap();
            back
        });
        assert_eq!(thread.join().unwrap(), [7; 64]);
    }
}

#[test]
fn b14_a_stream_works_on_a_thread_that_did_not_make_it() {
    for device in devices() {
        let stream: Box<dyn Stream> = device.stream().unwrap();
        let calls = std::thread::spawn(move || {
            stream.begin_capture().unwrap();
            stream.borrow().record(Box::new(|_| Ok(()))).unwrap();
            let graph = stream.end_capture().unwrap();
            graph.replay(stream.borrow()).unwrap();
            graph.calls()
        });
        assert_eq!(calls.join().unwrap(), 1);
    }
}

#[test]
fn b14_dropping_a_stream_while_it_captures_drops_its_calls() {
    for device in devices() {
        let held = Arc::new(());
        let stream = device.stream().unwrap();
        stream.begin_capture().unwrap();
        let kept = Arc::clone(&held);
        stream
            .borrow()
            .record(Box::new(move |_| {
                let _ = &kept;
                Ok(())
            }))
            .unwrap();
        assert_eq!(Arc::strong_count(&held), 2);
        drop(stream);
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
