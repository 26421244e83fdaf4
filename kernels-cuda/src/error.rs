// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What can be wrong with images and descriptions.

use std::path::PathBuf;

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// No image of this kernel exists where images were found, or no images were found at all.
    #[error(
        "find an image of {stem}: not built ({origin}); `cargo xtask kernels build` builds it, OPWEAVE_KERNELS names a folder of images"
    )]
    NotBuilt {
        /// The kernel.
        stem: String,
        /// Where it was looked for.
        origin: String,
    },
    /// `OPWEAVE_KERNELS` names a folder without an index.
    #[error("read {}: OPWEAVE_KERNELS must name a folder with index.json and images", path.display())]
    NoIndex {
        /// The index that is not there.
        path: PathBuf,
    },
    /// An index that cannot be read as one.
    #[error("read the index of images ({origin}): {why}")]
    CorruptIndex {
        /// Which index.
        origin: String,
        /// What the reader said.
        why: String,
    },
    /// An index of another version.
    #[error("read the index of images ({origin}): schema_version {found}, wanted {wanted}")]
    SchemaVersion {
        /// Which index.
        origin: String,
        /// Its version.
        found: u64,
        /// The version that is read here.
        wanted: u32,
    },
    /// The image's bytes are not those of the index.
    #[error("read the image of {stem} ({origin}): its hash is {found}, the index says {wanted}")]
    HashMismatch {
        /// The kernel.
        stem: String,
        /// Where the image lies.
        origin: String,
        /// Hash of the bytes.
        found: String,
        /// Hash in the index.
        wanted: String,
    },
    /// The image was built from other sources than this crate: its parameters may have another layout.
    #[error("use the image of {stem} ({origin}): built from sources {found}, this crate has {wanted}")]
    OtherSources {
        /// The kernel.
        stem: String,
        /// Where the image lies.
        origin: String,
        /// Hash of the image's sources.
        found: String,
        /// Hash of this crate's sources.
        wanted: String,
    },
    /// A file could not be read.
    #[error("read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

/// Why a text is no description.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DescriptionError {
    /// Not TOML, or not these fields.
    #[error("parse a kernel description: {0}")]
    Syntax(#[from] toml::de::Error),
    /// Fields that do not go together.
    #[error("accept the description of {stem}: {why}")]
    Meaning {
        /// The kernel.
        stem: String,
        /// What is wrong, with the legal set.
        why: String,
    },
}
