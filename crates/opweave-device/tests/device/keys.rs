// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Device keys: what selection knows of a device, written down and read back.

use opweave_device::{Architecture, Capability, DeviceKey, DeviceKind, Limits, cpu};

#[test]
fn keys_print_and_parse() {
    let keys = [
        ("cuda:9.0", DeviceKey::cuda(9, 0)),
        ("cuda:12.1", DeviceKey::cuda(12, 1)),
        ("npu:ascend910b", DeviceKey::npu("ascend910b")),
        ("npu:ascend910_93", DeviceKey::npu("ascend910_93")),
        ("noop", DeviceKey::noop(&[])),
        ("noop+fast+wide", DeviceKey::noop(&["wide", "fast"])),
        ("cpu:x86_64", DeviceKey::cpu("x86_64", &[])),
        ("cpu:x86_64+avx2+f16c+fma", DeviceKey::cpu("x86_64", &["fma", "avx2", "f16c", "avx2"])),
    ];
    for (text, key) in keys {
        assert_eq!(key.to_string(), text);
        assert_eq!(text.parse::<DeviceKey>().unwrap(), key, "{text}");
    }
}

#[test]
fn cpu_alone_is_this_host() {
    let host: DeviceKey = "cpu".parse().unwrap();
    assert_eq!(host, cpu::host_key());
    assert_eq!(host.kind(), DeviceKind::Cpu);
    assert_eq!(host.architecture(), &Architecture::Host(std::env::consts::ARCH.to_owned()));
    #[cfg(target_arch = "x86_64")]
    assert_eq!(host.has("avx2"), is_x86_feature_detected!("avx2"));
}

#[test]
fn a_capability_without_its_point_is_refused_with_the_right_spelling() {
    let cases = [
        ("cuda:10", "cuda:10.0"),
        ("cuda:100", "cuda:10.0"),
        ("cuda:103", "cuda:10.3"),
        ("cuda:9", "cuda:9.0"),
        ("cuda:90", "cuda:9.0"),
        ("cuda:50", "cuda:5.0"),
        ("cuda:sm_90", "cuda:9.0"),
        ("cuda:sm_120", "cuda:12.0"),
    ];
    for (text, spelling) in cases {
        let error = text.parse::<DeviceKey>().unwrap_err().to_string();
        assert!(error.ends_with(spelling), "{text}: {error}");
        assert!(spelling.parse::<DeviceKey>().is_ok());
    }
}

#[test]
fn other_text_is_refused() {
    for text in [
        "",
        "cuda",
        "cuda:",
        "cuda:x.y",
        "cuda:9.x",
        "npu",
        "npu:",
        "gpu:9.0",
        "noop:0",
        "cpu:",
        "cpu:0",
        "cpu:x86_64+",
        "noop+",
    ] {
        let error = text.parse::<DeviceKey>().unwrap_err();
        assert!(error.to_string().starts_with(&format!("device `{text}` is not understood; ")), "{error}");
    }
}

#[test]
fn limits_follow_the_capability_and_a_query_replaces_them() {
    let kib = |major, minor| DeviceKey::cuda(major, minor).limits().shared_memory >> 10;
    let table =
        [((8, 0), 163), ((8, 6), 99), ((8, 9), 99), ((9, 0), 227), ((10, 0), 227), ((12, 0), 99), ((99, 0), 48)];
    for ((major, minor), expected) in table {
        assert_eq!(kib(major, minor), expected, "{major}.{minor}");
    }
    let queried = DeviceKey::cuda(9, 0).with_limits(Limits { shared_memory: 1000 });
    assert_eq!(queried.limits().shared_memory, 1000);
    assert_ne!(queried, DeviceKey::cuda(9, 0), "limits are part of the key");
}

#[test]
fn the_product_name_is_for_the_profile_and_the_text_for_people() {
    let key = DeviceKey::cuda(9, 0);
    assert_eq!(key.name(), "cuda:9.0");
    let named = key.with_name("NVIDIA H200");
    assert_eq!((named.name().as_str(), named.to_string().as_str()), ("NVIDIA H200", "cuda:9.0"));
    assert_eq!(named.capability(), Some(Capability { major: 9, minor: 0 }));
    assert_eq!(DeviceKey::npu("ascend910b").capability(), None);
}
