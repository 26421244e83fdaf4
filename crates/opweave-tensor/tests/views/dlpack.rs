// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! DLPack: the round trip, and every refusal.

use std::ffi::c_void;

use opweave_tensor::{DLDataType, DLDevice, DLTensor, DType, DeviceId, DeviceKind, LayoutId, RawTensor, ViewError};
use proptest::prelude::*;

fn tensor(shape: &mut [i64], strides: Option<&mut [i64]>) -> DLTensor {
    DLTensor {
        data: std::ptr::without_provenance_mut::<c_void>(4096),
        device: DLDevice { device_type: 2, device_id: 1 },
        ndim: shape.len() as i32,
        dtype: DLDataType { code: 2, bits: 32, lanes: 1 },
        shape: shape.as_mut_ptr(),
        strides: strides.map_or(std::ptr::null_mut(), <[i64]>::as_mut_ptr),
        byte_offset: 0,
    }
}

fn import(tensor: &DLTensor) -> Result<RawTensor, ViewError> {
    // SAFETY: clause 1 of `from_dlpack`: `tensor` above points both arrays at slices of `ndim` values.
    unsafe { RawTensor::from_dlpack(tensor) }
}

proptest! {
    #[test]
    fn a_view_survives_the_round_trip(
        dtype in prop::sample::select(DType::ALL),
        kind in prop::sample::select(&[DeviceKind::Cpu, DeviceKind::Cuda, DeviceKind::Npu][..]),
        dims in prop::collection::vec((0_usize..1 << 33, -(1_isize << 40)..1 << 40), 0..=6),
    ) {
        let (shape, strides): (Vec<usize>, Vec<isize>) = dims.into_iter().unzip();
        let device = DeviceId::new(kind, if kind == DeviceKind::Cpu { 0 } else { 3 });
        let data = std::ptr::without_provenance_mut(1 << 44);
        let view = RawTensor::strided(data, dtype, device, &shape, &strides).unwrap();
        match view.to_dlpack() {
            Ok(mut export) => {
                let back = import(&export.tensor()).unwrap();
                prop_assert_eq!(
                    (back.data(), back.dtype(), back.device(), back.shape(), back.strides()),
                    (view.data(), view.dtype(), view.device(), view.shape(), view.strides())
                );
            }
            Err(error) => {
                prop_assert!(matches!(dtype, DType::I4 | DType::U4), "{dtype}: {error}");
            }
        }
    }
}

#[test]
fn the_noop_devices_memory_is_host_memory() {
    let noop = DeviceId::new(DeviceKind::Noop, 0);
    let view = RawTensor::contiguous(std::ptr::without_provenance_mut(64), DType::F32, noop, &[2]).unwrap();
    let mut export = view.to_dlpack().unwrap();
    assert_eq!(import(&export.tensor()).unwrap().device(), DeviceId::CPU);
}

#[test]
fn a_packed_weight_is_not_exported() {
    let packed = RawTensor::packed(std::ptr::null_mut(), DeviceId::CPU, 8, LayoutId(77));
    let error = packed.to_dlpack().unwrap_err();
    assert_eq!(error, ViewError::Dlpack { what: "packed layout", value: 77 });
}

#[test]
fn null_strides_mean_contiguous_and_the_offset_counts_bytes() {
    let mut shape = [2, 3];
    let mut dl = tensor(&mut shape, None);
    dl.byte_offset = 256;
    let view = import(&dl).unwrap();
    assert_eq!((view.data() as usize, view.strides()), (4096 + 256, &[3_isize, 1][..]));
    assert_eq!(view.device(), DeviceId::new(DeviceKind::Cuda, 1));
}

#[test]
fn devices_by_their_codes() {
    let cases = [
        (1, 0, Some(DeviceId::CPU)),
        (3, 5, Some(DeviceId::CPU)),
        (2, 7, Some(DeviceId::new(DeviceKind::Cuda, 7))),
        (13, 7, Some(DeviceId::new(DeviceKind::Cuda, 7))),
        (12, 2, Some(DeviceId::new(DeviceKind::Npu, 2))),
        (2, -1, None),
        (2, 70_000, None),
        (8, 0, None),
        (0, 0, None),
    ];
    for (device_type, device_id, expected) in cases {
        let mut shape = [2];
        let mut dl = tensor(&mut shape, None);
        dl.device = DLDevice { device_type, device_id };
        assert_eq!(import(&dl).ok().map(|v| v.device()), expected, "type {device_type} id {device_id}");
    }
}

#[test]
fn every_refusal_names_the_field_and_its_value() {
    type Change = fn(&mut DLTensor);
    let cases: &[(&str, Change, ViewError)] = &[
        ("rank", |t| t.ndim = 7, ViewError::Rank { rank: 7 }),
        ("negative rank", |t| t.ndim = -1, ViewError::Rank { rank: usize::MAX }),
        ("null shape", |t| t.shape = std::ptr::null_mut(), ViewError::Dlpack { what: "null shape for rank", value: 2 }),
        ("lanes", |t| t.dtype.lanes = 4, ViewError::Dlpack { what: "lane count", value: 4 }),
        ("complex", |t| t.dtype.code = 5, ViewError::Dlpack { what: "dtype code", value: 5 }),
        ("f32 of 33 bits", |t| t.dtype.bits = 33, ViewError::Dlpack { what: "dtype code", value: 2 }),
        ("device", |t| t.device.device_type = 10, ViewError::Dlpack { what: "device type", value: 10 }),
        ("device id", |t| t.device.device_id = -3, ViewError::Dlpack { what: "device id", value: -3 }),
        ("null data", |t| t.data = std::ptr::null_mut(), ViewError::Null { elements: 6 }),
    ];
    for (name, change, expected) in cases {
        let mut shape = [2, 3];
        let mut dl = tensor(&mut shape, None);
        change(&mut dl);
        assert_eq!(import(&dl).unwrap_err(), *expected, "{name}");
    }
    let mut negative = [2, -3];
    assert_eq!(import(&tensor(&mut negative, None)).unwrap_err(), ViewError::Size { axis: 1, size: -3 });
    let mut huge = [1 << 40, 1 << 40];
    assert!(matches!(import(&tensor(&mut huge, None)).unwrap_err(), ViewError::Size { .. }));
}

#[test]
fn a_scalar_needs_no_shape() {
    let mut dl = tensor(&mut [], None);
    dl.shape = std::ptr::null_mut();
    let view = import(&dl).unwrap();
    assert_eq!((view.rank(), view.elements()), (0, 1));
}

#[test]
fn null_data_is_legal_for_an_empty_tensor() {
    let mut shape = [0, 3];
    let mut dl = tensor(&mut shape, None);
    dl.data = std::ptr::null_mut();
    assert!(import(&dl).unwrap().is_empty());
}
