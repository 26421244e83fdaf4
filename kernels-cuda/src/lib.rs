// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The CUDA kernels of opweave.
//!
//! Three things travel in this package: the sources by family, a [`Description`] beside each source, and, where
//! `cargo xtask kernels build` has run, compiled images with an [`Index`]. This crate finds an image and answers for it; it
//! neither compiles nor loads anything, and needs neither a driver nor a toolkit.
//!
//! Images are looked for in the folder that `OPWEAVE_KERNELS` names, else in `kernels` beside the running binary, else in this
//! crate itself. The first of these that exists is taken, whole: an override that lacks an image is an error, not a reason to
//! take another. An image is refused unless its bytes are those that the index states and it was built from the sources that
//! this crate was built with, since the layout of parameters is an agreement between the two.
//!
//! ```
//! match opweave_kernels_cuda::images().and_then(|images| images.image("rms_norm")) {
//!     Ok(image) => println!("{} bytes, {} kernels", image.bytes().len(), image.facts().kernels.len()),
//!     Err(why) => println!("no kernels: {why}"),
//! }
//! ```

mod description;
mod error;
mod images;
mod index;
/// What an image is made of: the files that a source names, and their hash.
pub mod sources;

pub use description::{Description, Entry, Parameters, Provenance, Team, Variant};
pub use error::{DescriptionError, ImageError};
pub use images::{Image, Images, Origin, images};
pub use index::{ImageFacts, Index, KernelFacts, SCHEMA_VERSION};

mod built {
    //! Written by the build script.
    include!(concat!(env!("OUT_DIR"), "/built.rs"));
}

/// The descriptions of all kernels, in the order of their stems.
///
/// # Errors
/// If one does not parse, which a test of this crate rules out for those that it was built with.
pub fn descriptions() -> Result<Vec<Description>, DescriptionError> {
    built::KERNELS.iter().map(|kernel| Description::parse(kernel.description)).collect()
}

/// The description of one kernel, if there is such a kernel.
///
/// # Errors
/// As for [`descriptions`].
pub fn description(stem: &str) -> Result<Option<Description>, DescriptionError> {
    built::KERNELS.iter().find(|kernel| kernel.stem == stem).map(|k| Description::parse(k.description)).transpose()
}

/// The hash of the sources of a kernel that this crate was built with.
pub fn source_hash(stem: &str) -> Option<&'static str> {
    built::KERNELS.iter().find(|kernel| kernel.stem == stem).map(|kernel| kernel.source_hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_description_parses_and_has_the_name_of_its_file() {
        let all = descriptions().unwrap();
        assert!(all.len() >= 5, "{}", all.len());
        for (built, description) in built::KERNELS.iter().zip(&all) {
            assert_eq!(built.stem, description.stem);
            assert!(!description.entries().is_empty());
        }
        assert_eq!(description("rms_norm").unwrap().unwrap().operators, ["rms_norm", "gemma_rms_norm"]);
        assert!(description("absent").unwrap().is_none());
    }

    /// The sizes that the descriptions state are those that the headers assert when they are compiled.
    #[test]
    fn parameter_sizes_are_those_of_the_headers() {
        for description in descriptions().unwrap() {
            let parameters = &description.parameters;
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(&parameters.header);
            let header = std::fs::read_to_string(path).unwrap();
            let wanted = format!("static_assert(sizeof({}) == {}", parameters.name, parameters.bytes);
            assert!(header.contains(&wanted), "{}: {wanted}", description.stem);
        }
    }

    /// Every entry of a description is defined by its source, and nothing else is.
    #[test]
    fn hashes_are_those_of_the_files() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        for description in descriptions().unwrap() {
            let now = sources::Sources::of(root, &description.source()).unwrap();
            assert_eq!(source_hash(&description.stem), Some(now.hash.as_str()), "{}", description.stem);
        }
    }
}
