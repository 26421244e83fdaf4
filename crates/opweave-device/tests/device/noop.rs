// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The noop device: it logs, fails on demand, and its memory is real.

use opweave_device::cpu::HostBuffer;
use opweave_device::noop::{Failure, NoopDevice};
use opweave_device::{Buffer, Device, DeviceError, DeviceId, DeviceKind};

#[test]
fn it_fails_once_at_what_it_was_told_and_keeps_a_log() {
    let device = NoopDevice::new(2, &["fast"]);
    device.fail(Failure::Allocate);
    device.fail(Failure::Stream);
    device.fail(Failure::Faults);
    let driver = |error: DeviceError, at: &str| {
        assert_eq!(error.to_string(), format!("noop:2: driver error 700: told to fail at {at}"));
    };
    driver(device.allocate(8, 64).map(|_| ()).unwrap_err(), "Allocate");
    driver(device.stream().map(|_| ()).unwrap_err(), "Stream");
    driver(device.faults().map(|_| ()).unwrap_err(), "Faults");
    assert!(device.allocate(16, 128).is_ok() && device.stream().is_ok() && device.faults().is_ok());
    let log = device.log();
    assert_eq!(log[0], "allocate 8 aligned 64");
    assert_eq!(log[3], "allocate 16 aligned 128");
    assert_eq!(log.len(), 6);
}

#[test]
fn it_says_what_it_is() {
    let device = NoopDevice::new(1, &["fast"]);
    assert_eq!(device.id(), DeviceId::new(DeviceKind::Noop, 1));
    assert!(device.key().has("fast") && !device.key().has("slow"));
    assert_eq!(device.info().key, *device.key());
    assert!(device.has_graphs());
    device.set_graphs(false);
    assert!(!device.has_graphs());
}

#[test]
fn buffers_are_zeroed_aligned_and_bounded() {
    let device = NoopDevice::new(0, &[]);
    for align in [1, 64, 4096] {
        let mut buffer = device.allocate(100, align).unwrap();
        assert_eq!((buffer.data() as usize % align, buffer.bytes()), (0, 100));
        let mut back = [1_u8; 100];
        buffer.read(0, &mut back).unwrap();
        assert_eq!(back, [0; 100]);
        buffer.write(97, &[1, 2, 3]).unwrap();
        buffer.read(97, &mut back[..3]).unwrap();
        assert_eq!(back[..3], [1, 2, 3]);
        buffer.write(100, &[]).unwrap();
        let out = |start, end| DeviceError::OutOfBounds { start, end, bytes: 100 };
        assert_eq!(buffer.write(98, &[0; 3]).unwrap_err(), out(98, 101));
        assert_eq!(buffer.read(101, &mut []).unwrap_err(), out(101, 101));
        assert_eq!(buffer.write(usize::MAX, &[0; 2]).unwrap_err(), out(usize::MAX, usize::MAX));
        buffer.read(97, &mut back[..3]).unwrap();
        assert_eq!(back[..3], [1, 2, 3], "a refused write wrote nothing");
    }
}

/// Large blocks begin a huge page, so that the system can back them with such.
#[test]
fn large_buffers_begin_a_huge_page_and_are_zeroed_to_their_end() {
    let huge = 2 << 20;
    for (bytes, align, begins) in
        [(huge - 1, 64, 64), (huge, 64, huge), (2 * huge + 5, 1, huge), (huge, 2 * huge, 2 * huge)]
    {
        let buffer = HostBuffer::new(DeviceId::CPU, bytes, align).unwrap();
        assert!((buffer.data() as usize).is_multiple_of(begins), "{bytes} aligned to {align}");
        let mut back = vec![1_u8; bytes];
        buffer.read(0, &mut back).unwrap();
        assert!(back.iter().all(|&byte| byte == 0), "{bytes} aligned to {align}");
    }
}

#[test]
fn a_buffer_of_nothing_has_an_address_and_a_bad_alignment_is_refused() {
    let empty = HostBuffer::new(DeviceId::CPU, 0, 64).unwrap();
    assert!(!empty.data().is_null() && empty.bytes() == 0);
    for (bytes, align) in [(8, 3), (8, 0), (usize::MAX, 64)] {
        let error = HostBuffer::new(DeviceId::CPU, bytes, align).unwrap_err();
        assert!(matches!(error, DeviceError::Allocation { .. }), "{error}");
        assert!(error.to_string().contains(&format!("{bytes} bytes aligned to {align}")), "{error}");
    }
}
