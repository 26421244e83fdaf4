// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! What must hold of images before they are shipped.

use std::collections::BTreeMap;

use opweave_kernels_cuda::{Description, ImageFacts, Index};

use super::Package;
use super::state::State;

/// Bytes of all images together: they travel in a package of at most 10 MB, with room for its sources.
pub(crate) const LARGEST: u64 = 8_000_000;

/// What is wrong, one line each.
pub(crate) fn findings(package: &Package, index: &Index, states: &[State]) -> Vec<String> {
    let mut findings = Vec::new();
    for (kernel, state) in package.kernels.iter().zip(states) {
        let stem = &kernel.description.stem;
        match state {
            State::Fresh => {}
            State::Missing => findings.push(format!("{stem}: there is no image")),
            State::Stale(why) => findings.push(format!("{stem}: the image is stale: {why}")),
        }
        if let Some(image) = index.image(stem) {
            findings.extend(spills(&kernel.description, image));
        }
    }
    findings.extend(size(index));
    findings
}

/// Hot kernels that run out of registers.
fn spills(description: &Description, image: &ImageFacts) -> Vec<String> {
    let hot: BTreeMap<String, bool> =
        description.entries().into_iter().map(|entry| (entry.name, entry.variant.hot)).collect();
    let spills = image.kernels.iter().filter(|kernel| {
        hot.get(&kernel.name).copied().unwrap_or(false) && kernel.spill_store_bytes + kernel.spill_load_bytes > 0
    });
    spills
        .map(|kernel| {
            let (stores, loads) = (kernel.spill_store_bytes, kernel.spill_load_bytes);
            format!(
                "{} on {} is hot and spills: {stores} bytes of stores, {loads} of loads",
                kernel.name, kernel.target
            )
        })
        .collect()
}

fn size(index: &Index) -> Option<String> {
    let bytes: u64 = index.images.iter().map(|image| image.bytes).sum();
    (bytes > LARGEST).then(|| format!("the images have {bytes} bytes together, at most {LARGEST}"))
}

#[cfg(test)]
mod tests {
    use opweave_kernels_cuda::{KernelFacts, SCHEMA_VERSION};

    use super::*;

    fn image(bytes: u64, kernels: Vec<KernelFacts>) -> ImageFacts {
        ImageFacts {
            stem: "rms_norm".into(),
            file: "rms_norm.fatbin".into(),
            bytes,
            sha256: String::new(),
            source_hash: String::new(),
            flags: vec![],
            compiler: String::new(),
            targets: vec![],
            kernels,
        }
    }

    #[test]
    fn a_spill_counts_where_it_is_hot() {
        let root = crate::workspace::root().unwrap();
        let text = std::fs::read_to_string(root.join("kernels-cuda/normalization/rms_norm.toml")).unwrap();
        let description = Description::parse(&text).unwrap();
        let kernel = |suffix: &str, spill_load_bytes| KernelFacts {
            name: description.symbol("bf16", suffix),
            target: "sm_90a".into(),
            registers: 64,
            shared_bytes: 0,
            stack_bytes: 8,
            spill_store_bytes: 0,
            spill_load_bytes,
        };
        let found = spills(&description, &image(1, vec![kernel("v1", 4), kernel("v2", 0), kernel("loop", 4)]));
        assert_eq!(found, ["opweave_rms_norm_bf16_v1 on sm_90a is hot and spills: 0 bytes of stores, 4 of loads"]);
    }

    #[test]
    fn images_that_are_too_large_together_are_found() {
        let index = |bytes: &[u64]| Index {
            schema_version: SCHEMA_VERSION,
            images: bytes.iter().map(|bytes| image(*bytes, vec![])).collect(),
        };
        assert_eq!(size(&index(&[LARGEST / 2, LARGEST / 2])), None);
        assert!(size(&index(&[LARGEST / 2, LARGEST / 2 + 1])).unwrap().contains("8000001 bytes together"));
    }
}
