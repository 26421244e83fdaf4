// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The Ascend C kernels of opweave: the sources, by family, and where compiled images of them are found.
//!
//! Images are looked for in the folder that `OPWEAVE_NPU_KERNELS` names, else in `kernels-npu` beside the running binary. The first
//! of these that exists is taken, whole. An image is refused unless its bytes are those that the folder's index states and all were
//! built from the sources that this crate was built with, since the layout of tilings is an agreement between the two.
//!
//! Not run on hardware: `docs/kernels-npu.md` says what has been verified, and how.

mod images;
/// What images are made of.
pub mod sources;

pub use images::{Image, ImageError, ImageFacts, Images, Index, SCHEMA_VERSION, VARIABLE, images};

/// A kernel: a source, and an image where it has been compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The name of source and image, which is the operator's.
    pub stem: &'static str,
    /// The folder.
    pub family: &'static str,
    /// What it computes.
    pub summary: &'static str,
}

/// The dtypes of activations that every kernel has an entry for.
pub const DTYPES: [&str; 3] = ["f32", "f16", "bf16"];

/// The chips that images are built for, as selection knows them: those with the vector cores of Atlas A2.
pub const CHIPS: [&str; 2] = ["ascend910b", "ascend910_93"];

/// All kernels, in the order of their stems.
pub const KERNELS: [Kernel; 5] = [
    Kernel {
        stem: "dynamic_quant",
        family: "quantization",
        summary: "scale = max(abs(input)) / 127, out = saturate(round(input / scale)) as i8",
    },
    Kernel {
        stem: "fused_add_rms_norm",
        family: "normalization",
        summary: "residual += input, out = residual * rsqrt(mean(residual^2) + epsilon) * weight",
    },
    Kernel {
        stem: "rms_norm",
        family: "normalization",
        summary: "out = input * rsqrt(mean(input^2) + epsilon) * weight",
    },
    Kernel {
        stem: "rotary_embedding",
        family: "rotary",
        summary: "a, b = a * cos - b * sin, b * cos + a * sin for each pair of a head, in place",
    },
    Kernel { stem: "silu_and_mul", family: "activation", summary: "out = gate / (1 + e^-gate) * up" },
];

impl Kernel {
    /// The source, from the package's root.
    pub fn source(&self) -> String {
        format!("{}/{}.cpp", self.family, self.stem)
    }

    /// The entry for activations of `dtype`.
    pub fn entry(&self, dtype: &str) -> String {
        format!("opweave_{}_{dtype}", self.stem)
    }
}

/// The hash of the sources that this crate was built with.
pub fn source_hash() -> &'static str {
    env!("OPWEAVE_NPU_SOURCES")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_source_is_listed_and_defines_its_entries_and_no_other() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut found = Vec::new();
        for folder in sources::FOLDERS {
            for entry in std::fs::read_dir(root.join(folder)).unwrap() {
                let name = entry.unwrap().file_name().to_string_lossy().into_owned();
                if let Some(stem) = name.strip_suffix(".cpp") {
                    found.push((stem.to_owned(), folder.to_owned()));
                }
            }
        }
        found.sort();
        let listed: Vec<(String, String)> = KERNELS.iter().map(|k| (k.stem.to_owned(), k.family.to_owned())).collect();
        assert_eq!(found, listed);
        for kernel in KERNELS {
            let text = std::fs::read_to_string(root.join(kernel.source())).unwrap();
            for dtype in DTYPES {
                assert!(text.contains(&format!("OPWEAVE_ENTRY({}, ", kernel.entry(dtype))), "{}", kernel.entry(dtype));
            }
            assert_eq!(text.matches("\nOPWEAVE_ENTRY(").count(), DTYPES.len(), "{}", kernel.stem);
        }
    }

    #[test]
    fn the_hash_is_that_of_the_files() {
        assert_eq!(sources::hash(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap(), source_hash());
    }
}
