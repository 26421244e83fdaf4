// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `index.json`: what lies beside it, what it was made of, and what the assembler said of each kernel.

use serde::{Deserialize, Serialize};

use crate::ImageError;

/// Version of the format. Its schema is `docs/schemas/kernel-index.schema.json`.
pub const SCHEMA_VERSION: u32 = 1;

/// The index of a folder of images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// Version of this format.
    pub schema_version: u32,
    /// The images, in the order of their stems.
    pub images: Vec<ImageFacts>,
}

/// One image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ImageFacts {
    /// The kernel's stem.
    pub stem: String,
    /// Name of the file beside the index.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its bytes. Two builds of the same sources differ in it, so it identifies a file, not a kernel.
    pub sha256: String,
    /// SHA-256 over the source, the headers that it includes, and its description.
    pub source_hash: String,
    /// The compiler's flags but for paths.
    pub flags: Vec<String>,
    /// The compiler's version.
    pub compiler: String,
    /// What the image holds code for.
    pub targets: Vec<String>,
    /// What each kernel needs on each target that has machine code, sorted by name and target.
    pub kernels: Vec<KernelFacts>,
}

/// One kernel on one target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KernelFacts {
    /// Symbol of the entry.
    pub name: String,
    /// The target.
    pub target: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Static shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Stack of a thread, in bytes.
    pub stack_bytes: u32,
    /// Bytes of registers that a thread writes to memory for want of registers.
    pub spill_store_bytes: u32,
    /// Bytes that it reads back.
    pub spill_load_bytes: u32,
}

impl Index {
    /// Reads an index; `origin` says which one in errors.
    ///
    /// # Errors
    /// [`ImageError::CorruptIndex`] or [`ImageError::SchemaVersion`].
    pub fn parse(text: &str, origin: &str) -> Result<Index, ImageError> {
        let corrupt = |why: String| ImageError::CorruptIndex { origin: origin.to_owned(), why };
        // The version first: another version may have other fields, and should say so rather than which of them is odd.
        let value: serde_json::Value = serde_json::from_str(text).map_err(|error| corrupt(error.to_string()))?;
        let version = value.get("schema_version").and_then(serde_json::Value::as_u64);
        let Some(found) = version else { return Err(corrupt("no schema_version".into())) };
        if found != u64::from(SCHEMA_VERSION) {
            return Err(ImageError::SchemaVersion { origin: origin.to_owned(), found, wanted: SCHEMA_VERSION });
        }
        let index: Index = serde_json::from_value(value).map_err(|error| corrupt(error.to_string()))?;
        let strange = |image: &&ImageFacts| image.file.is_empty() || image.file.contains(['/', '\\']);
        match index.images.iter().find(strange) {
            Some(image) => {
                Err(corrupt(format!("the image of {} is called {:?}, not a file's name", image.stem, image.file)))
            }
            None => Ok(index),
        }
    }

    /// The index as text.
    ///
    /// # Errors
    /// Never for an index that was built or read here; the writer's error otherwise.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The facts of one image.
    #[must_use]
    pub fn image(&self, stem: &str) -> Option<&ImageFacts> {
        self.images.iter().find(|image| image.stem == stem)
    }
}

impl ImageFacts {
    /// The facts of an entry on a target.
    #[must_use]
    pub fn kernel(&self, name: &str, target: &str) -> Option<&KernelFacts> {
        self.kernels.iter().find(|kernel| kernel.name == name && kernel.target == target)
    }
}

#[cfg(test)]
pub(crate) fn example(stem: &str, bytes: &[u8], source_hash: &str) -> Index {
    let kernel = KernelFacts {
        name: format!("opweave_{stem}_f32_v1"),
        target: "sm_90a".into(),
        registers: 40,
        shared_bytes: 256,
        stack_bytes: 0,
        spill_store_bytes: 0,
        spill_load_bytes: 0,
    };
    let image = ImageFacts {
        stem: stem.into(),
        file: format!("{stem}.fatbin"),
        bytes: bytes.len() as u64,
        sha256: crate::sources::sha256(bytes),
        source_hash: source_hash.into(),
        flags: vec!["-O3".into()],
        compiler: "13.0.88".into(),
        targets: vec!["sm_90a".into()],
        kernels: vec![kernel],
    };
    Index { schema_version: SCHEMA_VERSION, images: vec![image] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_reads_back_as_written() {
        let index = example("rms_norm", b"bytes", "abc");
        assert_eq!(Index::parse(&index.to_json().unwrap(), "test").unwrap(), index);
        assert_eq!(index.image("rms_norm").unwrap().kernel("opweave_rms_norm_f32_v1", "sm_90a").unwrap().registers, 40);
    }

    #[test]
    fn what_is_no_index_is_refused_by_name() {
        let good = example("rms_norm", b"bytes", "abc").to_json().unwrap();
        let error = |text: &str| Index::parse(text, "the test's").unwrap_err();
        assert!(matches!(error("{"), ImageError::CorruptIndex { .. }));
        assert!(
            error("{}").to_string().contains("the test's") && error("{}").to_string().contains("no schema_version")
        );
        assert!(matches!(
            error(&good.replace("\"schema_version\": 1", "\"schema_version\": 7")),
            ImageError::SchemaVersion { found: 7, wanted: 1, .. }
        ));
        assert!(error(&good.replace("\"registers\": 40", "\"registers\": -1")).to_string().contains("invalid value"));
        assert!(
            error(&good.replace("rms_norm.fatbin", "../rms_norm.fatbin")).to_string().contains("not a file's name")
        );
        assert!(error(&good[..good.len() / 2]).to_string().contains("EOF"));
    }

    /// The committed schema is that of these types. With `OPWEAVE_UPDATE_SCHEMAS` set it is written.
    #[test]
    fn the_schema_is_committed() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas/kernel-index.schema.json");
        let text = serde_json::to_string_pretty(&schemars::schema_for!(Index)).unwrap() + "\n";
        if std::env::var_os("OPWEAVE_UPDATE_SCHEMAS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "set OPWEAVE_UPDATE_SCHEMAS=1 and review");
    }
}
