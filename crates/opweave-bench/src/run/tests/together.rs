// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Implementations that are compared: what they share.

use super::*;

#[test]
fn implementations_of_a_case_use_the_same_memory() {
    let scene = Scene::new(Deed::FindsTheSame, Deed::FindsTheSame);
    let (config, ground) = (config("fused_add_rms_norm"), scene.ground());
    let planned = plan::plan(&config, &ground.numerics, scene.device.key()).unwrap();
    let fixture = || planned[0].case.fixture(&generator(&config).unwrap()).unwrap();
    let on = PrepareOn {
        device: &scene.device,
        row: planned[0].ours.row.as_ref().unwrap(),
        mode: ExecutionMode::Eager,
        generation: scene.registry.generation(),
        considered: &planned[0].ours.considered,
    };
    let source = fixture();
    // Two plans, each of which remembers what its first call found.
    let (ours, other) = (source.prepare(&on).unwrap(), source.prepare(&on).unwrap());
    let stream = scene.device.stream().unwrap();
    let mut own = ours.twin().unwrap();
    let beside = other.twin_on(&*own).unwrap();
    // The operator changes its input in place, and these kernels notice: whoever runs second finds what the first left.
    own.launch(stream.borrow()).unwrap();
    own.reset().unwrap();
    beside.launch(stream.borrow()).unwrap();
    assert!(own.launch(stream.borrow()).unwrap_err().to_string().contains("not what it was"));
    own.reset().unwrap();
    own.launch(stream.borrow()).unwrap();
    // Another case's memory is refused.
    let error = other.twin_on(&*fixture().prepare(&on).unwrap()).err().unwrap();
    assert!(error.to_string().contains("another case"), "{error}");
}

#[test]
fn a_carousel_counts_for_all_and_flushes_when_it_comes_around() {
    let carousel = Carousel::new(3, None);
    assert_eq!(carousel.last(), None);
    let places: Vec<usize> = (0..5)
        .map(|_| {
            carousel.turn().unwrap();
            carousel.at()
        })
        .collect();
    assert_eq!((places, carousel.last()), (vec![0, 1, 2, 0, 1], Some(1)));
}
