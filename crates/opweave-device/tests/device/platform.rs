// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Case B15: what is not there is an answer with its reason, and absent, empty and broken are told apart.

use opweave_device::{Backend, BackendState, DeviceId, DeviceKind, Platform, cpu, noop};

fn backend(kind: DeviceKind, state: BackendState) -> Backend {
    Backend { kind, state }
}

#[test]
fn b15_absent_no_device_broken_and_not_compiled_are_four_answers() {
    let cuda = DeviceId::new(DeviceKind::Cuda, 0);
    let cases = [
        (BackendState::Absent("libcuda.so.1: not found".into()), "cuda is absent: libcuda.so.1: not found"),
        (BackendState::NoDevice("the driver reports 0".into()), "cuda is no device: the driver reports 0"),
        (BackendState::Broken("undefined symbol: cuInit".into()), "cuda is broken: undefined symbol: cuInit"),
        (BackendState::NotCompiled, "cuda is not compiled: this build has no solution for it"),
    ];
    for (state, expected) in cases {
        let platform = Platform::new(vec![cpu::backend(), backend(DeviceKind::Cuda, state)]);
        assert_eq!(platform.refusal(cuda).unwrap(), expected);
        // The CPU works whatever is wrong with the others.
        assert_eq!(platform.refusal(DeviceId::CPU), None);
        assert_eq!(platform.devices().count(), 1);
    }
}

#[test]
fn a_kind_that_nobody_probed_is_not_compiled() {
    let refusal = Platform::default().refusal(DeviceId::new(DeviceKind::Npu, 0)).unwrap();
    assert_eq!(refusal, "npu is not compiled: this build has no solution for it");
}

#[test]
fn an_index_past_the_last_lists_the_devices() {
    let platform = Platform::new(vec![cpu::backend(), noop::backend(2, &[])]);
    let refusal = platform.refusal(DeviceId::new(DeviceKind::Noop, 2)).unwrap();
    assert_eq!(refusal, "there is no noop:2; there are cpu, noop:0, noop:1");
}

#[test]
fn of_two_answers_for_one_kind_the_first_counts() {
    let twice = vec![noop::backend(1, &[]), backend(DeviceKind::Noop, BackendState::NotCompiled)];
    let platform = Platform::new(twice);
    assert_eq!(platform.backends().len(), 1);
    assert!(platform.device(DeviceId::new(DeviceKind::Noop, 0)).is_some());
}

#[test]
fn the_probe_of_this_host_is_total() {
    let backend = cpu::backend();
    assert_eq!(backend.state.reason(), None);
    let info = cpu::host_info();
    assert_eq!((info.id, info.graphs), (DeviceId::CPU, true));
    assert!(!info.name.is_empty());
    assert_eq!(info.key.name(), info.name, "the profile is keyed by the product");
}
