// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The tables of dtypes and devices, and their names.

use opweave_tensor::{DType, DeviceId, DeviceKind};

#[test]
fn dtypes_by_name_width_and_kind() {
    let table: &[(&str, usize, bool)] = &[
        ("f64", 64, true),
        ("f32", 32, true),
        ("f16", 16, true),
        ("bf16", 16, true),
        ("f8e4m3", 8, true),
        ("f8e5m2", 8, true),
        ("f8e8m0", 8, true),
        ("f4e2m1", 4, true),
        ("i64", 64, false),
        ("i32", 32, false),
        ("i16", 16, false),
        ("i8", 8, false),
        ("i4", 4, false),
        ("u64", 64, false),
        ("u32", 32, false),
        ("u8", 8, false),
        ("u4", 4, false),
        ("bool", 8, false),
    ];
    assert_eq!(table.len(), DType::ALL.len());
    for &(name, bits, float) in table {
        let dtype: DType = name.parse().unwrap();
        assert_eq!((dtype.name(), dtype.to_string().as_str()), (name, name));
        assert_eq!((dtype.bits(), dtype.is_float()), (bits, float), "{name}");
        assert_eq!(dtype.alignment(), (bits / 8).max(1), "{name}");
    }
}

#[test]
fn an_unknown_dtype_is_refused_with_the_list() {
    let error = "F32".parse::<DType>().unwrap_err().to_string();
    assert!(error.starts_with("dtype `F32` is unknown; expected one of f64, f32, f16, bf16"), "{error}");
}

#[test]
fn bytes_are_whole_or_none() {
    assert_eq!(DType::F4E2M1.bytes_for(6), Some(3));
    assert_eq!(DType::F4E2M1.bytes_for(7), None);
    assert_eq!(DType::F64.bytes_for(usize::MAX), None);
    assert_eq!(DType::BF16.bytes_for(0), Some(0));
}

#[test]
fn device_ids_print_and_parse() {
    let round = ["cpu", "cuda:0", "cuda:7", "npu:3", "noop:1"];
    for text in round {
        assert_eq!(text.parse::<DeviceId>().unwrap().to_string(), text);
    }
    assert_eq!("cuda".parse::<DeviceId>().unwrap(), DeviceId::new(DeviceKind::Cuda, 0));
    for text in ["gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:65536", "", ":0", "CPU"] {
        let error = text.parse::<DeviceId>().unwrap_err().to_string();
        assert!(error.contains("is not understood; expected"), "{text}: {error}");
    }
}
