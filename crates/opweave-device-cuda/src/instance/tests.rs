// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Machines that are not there: drivers that are missing, damaged, too old, or count no device, as shared objects that this
//! test compiles.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;

/// A driver whose functions return 0 and do nothing, but for `special`; `without` is missing.
fn stub(directory: &Path, name: &str, special: &[(&str, &str)], without: &[&str]) -> PathBuf {
    let plain = Driver::SYMBOLS.iter().filter(|s| !without.contains(s) && special.iter().all(|(name, _)| name != *s));
    let mut source: String = plain.map(|symbol| format!("int {symbol}(void) {{ return 0; }}\n")).collect();
    special.iter().for_each(|(_, text)| source += &format!("{text}\n"));
    let (c, library) = (directory.join(format!("{name}.c")), directory.join(format!("{name}.so")));
    std::fs::write(&c, source).expect("the test's directory can be written");
    let compiler = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&c).status();
    assert!(compiler.expect("a C compiler, which linking Rust takes as well").success());
    library
}

fn state_of(file: &Path) -> BackendState {
    state(&start(Driver::open(file)))
}

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is a place for temporary files")
}

const ONE_DEVICE: &[(&str, &str)] = &[
    ("cuDriverGetVersion", "int cuDriverGetVersion(int* v) { *v = 13020; return 0; }"),
    ("cuDeviceGetCount", "int cuDeviceGetCount(int* n) { *n = 1; return 0; }"),
    ("cuDeviceGet", "int cuDeviceGet(int* d, int i) { *d = i; return i ? 101 : 0; }"),
    ("cuDeviceGetName", "int cuDeviceGetName(char* s, int n, int d) { s[0] = 'G'; s[1] = 0; return 0; }"),
    (
        "cuDeviceGetUuid_v2",
        "int cuDeviceGetUuid_v2(unsigned char* u, int d) { for (int i = 0; i < 16; i++) u[i] = i; return 0; }",
    ),
    ("cuDeviceTotalMem_v2", "int cuDeviceTotalMem_v2(unsigned long* b, int d) { *b = 1ul << 37; return 0; }"),
    (
        "cuDeviceGetAttribute",
        "int cuDeviceGetAttribute(int* v, int a, int d) { *v = a == 75 ? 9 : a == 76 ? 0 : a == 97 ? 232448 : a == 16 ? 132 : 7; return 0; }",
    ),
];

#[test]
fn a_missing_driver_is_absent() {
    match state_of(Path::new("/nowhere/libcuda.so.1")) {
        BackendState::Absent(reason) => assert!(reason.contains("/nowhere/libcuda.so.1"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn b15_a_driver_that_does_not_load_is_broken_and_not_absent() {
    let directory = directory();
    let file = directory.path().join("libcuda.so.1");
    std::fs::write(&file, "no shared object").expect("the test's directory can be written");
    match state_of(&file) {
        BackendState::Broken(reason) => assert!(reason.contains("does not load"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn e01_every_missing_symbol_is_named_and_nothing_panics() {
    let directory = directory();
    for symbol in ["cuInit", "cuDevicePrimaryCtxRetain", "cuLaunchKernelEx", "cuGetErrorString"] {
        let file = stub(directory.path(), symbol, &[], &[symbol]);
        match state_of(&file) {
            BackendState::Broken(reason) => {
                assert!(reason.contains(&format!("no symbol `{symbol}`")) && reason.contains("too old"), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_driver_without_a_device_says_so() {
    let directory = directory();
    let none = stub(directory.path(), "none", &[("cuInit", "int cuInit(unsigned f) { return 100; }")], &[]);
    assert!(matches!(state_of(&none), BackendState::NoDevice(_)));
    let zero = stub(
        directory.path(),
        "zero",
        &[("cuDeviceGetCount", "int cuDeviceGetCount(int* n) { *n = 0; return 0; }")],
        &[],
    );
    assert!(matches!(state_of(&zero), BackendState::NoDevice(_)));
}

#[test]
fn a_driver_that_fails_to_start_is_broken_with_its_own_words() {
    let directory = directory();
    let special = [
        ("cuInit", "int cuInit(unsigned f) { return 803; }"),
        (
            "cuGetErrorName",
            "int cuGetErrorName(int e, const char** s) { *s = \"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH\"; return 0; }",
        ),
        (
            "cuGetErrorString",
            "int cuGetErrorString(int e, const char** s) { *s = \"mismatch of driver and kernel\"; return 0; }",
        ),
    ];
    match state_of(&stub(directory.path(), "mismatch", &special, &[])) {
        BackendState::Broken(reason) => {
            assert_eq!(reason, "cuInit: status 803, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: mismatch of driver and kernel")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_device_is_described_by_what_the_driver_says() {
    let directory = directory();
    match state_of(&stub(directory.path(), "one", ONE_DEVICE, &[])) {
        BackendState::Present(devices) => {
            assert_eq!(devices.len(), 1);
            let device = &devices[0];
            assert_eq!(device.id.to_string(), "cuda:0");
            assert_eq!(device.key.to_string(), "cuda:9.0");
            assert_eq!(device.key.limits().shared_memory, 232_448);
            assert_eq!((device.name.as_str(), device.multiprocessors), ("G", Some(132)));
            assert_eq!(device.memory_bytes, Some(1 << 37));
            assert_eq!(device.driver.as_deref(), Some("CUDA 13.2"));
            assert_eq!(device.uuid.as_deref(), Some("GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_query_that_fails_breaks_the_backend_and_not_the_program() {
    let directory = directory();
    let mut special = ONE_DEVICE.to_vec();
    special.retain(|(name, _)| *name != "cuDeviceTotalMem_v2");
    special.push(("cuDeviceTotalMem_v2", "int cuDeviceTotalMem_v2(unsigned long* b, int d) { return 999; }"));
    match state_of(&stub(directory.path(), "failing", &special, &[])) {
        BackendState::Broken(reason) => assert!(reason.contains("status 999"), "{reason}"),
        other => panic!("{other:?}"),
    }
}
