// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The kernels are in the package, and selection knows it.

use std::error::Error;

use opweave::DeviceKey;
use opweave::contract::ops::FAMILIES;
use opweave::opweave_runtime::{Demands, explain};
use opweave::registry::{Buckets, ExecutionMode};
use opweave_kernels_cuda::{Origin, descriptions, images};

#[test]
fn every_image_is_in_the_package() -> Result<(), Box<dyn Error>> {
    let images = images()?;
    assert_eq!(images.origin(), &Origin::Embedded);
    for description in descriptions()? {
        let image = images.image(&description.stem)?;
        let missing: Vec<_> = description.targets.iter().filter(|target| !image.facts().targets.contains(target)).collect();
        assert!(!image.bytes().is_empty() && missing.is_empty(), "{}: no {missing:?}", description.stem);
    }
    Ok(())
}

#[test]
fn a_gpu_that_is_not_there_would_run_them() -> Result<(), Box<dyn Error>> {
    let registry = opweave::runtime().registry()?;
    let served: Vec<String> = descriptions()?.into_iter().flat_map(|description| description.operators).collect();
    // Machine code for some, PTX that the driver compiles for the others.
    for device in ["cuda:8.0", "cuda:8.9", "cuda:9.0", "cuda:10.0", "cuda:12.0"] {
        let key: DeviceKey = device.parse()?;
        for operation in FAMILIES.iter().flat_map(|family| family.iter()) {
            let name = operation.operation;
            if !served.iter().any(|served| served == name) {
                continue;
            }
            let demands = Demands::default();
            let all = explain(&registry, name, None, &Buckets::none(), &key, ExecutionMode::Graph, demands, None, None);
            let chosen = all.iter().find_map(|explanation| explanation.outcome.as_ref().ok());
            assert!(chosen.is_some(), "{device} {name}: {}", all[0]);
        }
    }
    Ok(())
}
