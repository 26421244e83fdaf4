// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Where images are.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use serde::{Deserialize, Serialize};

use crate::{CHIPS, KERNELS, Kernel, source_hash, sources};

/// Names the folder of images.
pub const VARIABLE: &str = "OPWEAVE_NPU_KERNELS";

/// Version of the index.
pub const SCHEMA_VERSION: u32 = 1;

/// What a folder of images says of itself, `index.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// Version of the format.
    pub schema_version: u32,
    /// Hash of all sources.
    pub source_hash: String,
    /// What compiled them.
    pub compiler: String,
    /// The chips that they run on.
    pub chips: Vec<String>,
    /// One for each kernel, in the order of stems.
    pub images: Vec<ImageFacts>,
}

/// One image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageFacts {
    /// The kernel.
    pub stem: String,
    /// The file in the folder.
    pub file: String,
    /// Hash of its bytes.
    pub sha256: String,
}

impl Index {
    /// Writes the index of a folder that holds `STEM.o` for each kernel, compiled from the sources of this crate.
    ///
    /// # Errors
    /// [`ImageError::Io`]: an image is not there, or the folder cannot be written.
    pub fn write(folder: &Path, compiler: &str) -> Result<Index, ImageError> {
        let io = |path: &Path, source| ImageError::Io { path: path.to_owned(), source };
        let image = |kernel: &Kernel| {
            let file = format!("{}.o", kernel.stem);
            let path = folder.join(&file);
            let bytes = fs::read(&path).map_err(|source| io(&path, source))?;
            Ok(ImageFacts { stem: kernel.stem.to_owned(), file, sha256: sources::sha256(&bytes) })
        };
        let index = Index {
            schema_version: SCHEMA_VERSION,
            source_hash: source_hash().to_owned(),
            compiler: compiler.to_owned(),
            chips: CHIPS.map(str::to_owned).into(),
            images: KERNELS.iter().map(image).collect::<Result<_, ImageError>>()?,
        };
        let path = folder.join("index.json");
        let text = serde_json::to_string_pretty(&index).map_err(|error| io(&path, error.into()))? + "\n";
        fs::write(&path, text).map_err(|source| io(&path, source))?;
        Ok(index)
    }
}

/// A folder of images.
#[derive(Clone, Debug)]
pub struct Images {
    folder: PathBuf,
    index: Index,
}

/// An image whose bytes are those of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Where it lies.
    pub path: PathBuf,
    /// Hash of its bytes.
    pub sha256: String,
}

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// No image of this kernel exists.
    #[error(
        "find an image of {stem}: not built; `cargo xtask kernels npu build` builds it, {VARIABLE} names a folder of images"
    )]
    NotBuilt {
        /// The kernel.
        stem: String,
    },
    /// The index cannot be read as one.
    #[error("read {}: {why}", path.display())]
    Index {
        /// The index.
        path: PathBuf,
        /// What is wrong, with what was wanted.
        why: String,
    },
    /// The images were built from other sources than this crate.
    #[error("use the images in {}: built from sources {found}, this crate has {wanted}", folder.display())]
    OtherSources {
        /// The folder.
        folder: PathBuf,
        /// Hash of the images' sources.
        found: String,
        /// Hash of this crate's sources.
        wanted: String,
    },
    /// The image's bytes are not those of the index.
    #[error("read {}: its hash is {found}, the index says {wanted}", path.display())]
    HashMismatch {
        /// The image.
        path: PathBuf,
        /// Hash of the bytes.
        found: String,
        /// Hash in the index.
        wanted: String,
    },
    /// A file could not be read.
    #[error("read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

/// Looks for images: one folder, or none.
///
/// # Errors
/// [`ImageError`] for a folder that is there and cannot be used.
pub fn images() -> Result<Option<Images>, ImageError> {
    let beside = env::current_exe().ok().and_then(|binary| Some(binary.parent()?.join("kernels-npu")));
    find(env::var_os(VARIABLE).as_deref(), beside.as_deref())
}

/// An override that is set is meant: it never falls back to what lies beside the binary.
fn find(variable: Option<&OsStr>, beside: Option<&Path>) -> Result<Option<Images>, ImageError> {
    match (variable.filter(|folder| !folder.is_empty()), beside) {
        (Some(folder), _) => Images::read(Path::new(folder)).map(Some),
        (None, Some(folder)) if folder.join("index.json").is_file() => Images::read(folder).map(Some),
        _ => Ok(None),
    }
}

impl Images {
    /// Reads a folder's index.
    ///
    /// # Errors
    /// [`ImageError`]: no index, another version, or other sources.
    pub fn read(folder: &Path) -> Result<Images, ImageError> {
        let path = folder.join("index.json");
        let text = fs::read_to_string(&path).map_err(|source| ImageError::Io { path: path.clone(), source })?;
        let index: Index = serde_json::from_str(&text)
            .map_err(|error| ImageError::Index { path: path.clone(), why: error.to_string() })?;
        if index.schema_version != SCHEMA_VERSION {
            let why = format!("schema_version {}, wanted {SCHEMA_VERSION}", index.schema_version);
            return Err(ImageError::Index { path, why });
        }
        if index.source_hash != source_hash() {
            let (found, wanted) = (index.source_hash, source_hash().to_owned());
            return Err(ImageError::OtherSources { folder: folder.to_owned(), found, wanted });
        }
        Ok(Images { folder: folder.to_owned(), index })
    }

    /// What compiled the images.
    pub fn compiler(&self) -> &str {
        &self.index.compiler
    }

    /// The chips that the images run on, as selection knows them.
    pub fn chips(&self) -> &[String] {
        &self.index.chips
    }

    /// Whether there is an image of a kernel; its bytes are not read.
    ///
    /// # Errors
    /// [`ImageError::NotBuilt`].
    pub fn facts(&self, stem: &str) -> Result<&ImageFacts, ImageError> {
        let facts = self.index.images.iter().find(|image| image.stem == stem);
        facts.ok_or_else(|| ImageError::NotBuilt { stem: stem.to_owned() })
    }

    /// The image of a kernel.
    ///
    /// # Errors
    /// [`ImageError`]: not there, or not the bytes of the index.
    pub fn image(&self, stem: &str) -> Result<Image, ImageError> {
        let facts = self.facts(stem)?;
        let path = self.folder.join(&facts.file);
        let bytes = fs::read(&path).map_err(|source| ImageError::Io { path: path.clone(), source })?;
        let found = sources::sha256(&bytes);
        if found != facts.sha256 {
            return Err(ImageError::HashMismatch { path, found, wanted: facts.sha256.clone() });
        }
        Ok(Image { path, sha256: found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(change: impl FnOnce(&mut Index)) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for kernel in KERNELS {
            fs::write(folder.path().join(format!("{}.o", kernel.stem)), format!("image of {}", kernel.stem)).unwrap();
        }
        let mut index = Index::write(folder.path(), "test").unwrap();
        change(&mut index);
        fs::write(folder.path().join("index.json"), serde_json::to_string(&index).unwrap()).unwrap();
        folder
    }

    #[test]
    fn an_image_is_what_its_index_says_or_refused() {
        let good = folder(|index| index.images.retain(|image| image.stem != "silu_and_mul"));
        let images = Images::read(good.path()).unwrap();
        assert_eq!(images.image("rms_norm").unwrap().path, good.path().join("rms_norm.o"));
        assert_eq!((images.compiler(), images.chips()), ("test", &CHIPS.map(str::to_owned)[..]));
        let said = images.image("silu_and_mul").unwrap_err().to_string();
        assert!(said.contains("silu_and_mul") && said.contains(VARIABLE), "{said}");
        fs::write(good.path().join("rms_norm.o"), b"other").unwrap();
        assert!(matches!(images.image("rms_norm"), Err(ImageError::HashMismatch { .. })));
        fs::remove_file(good.path().join("rms_norm.o")).unwrap();
        assert!(matches!(images.image("rms_norm"), Err(ImageError::Io { .. })));
    }

    #[test]
    fn an_index_is_of_all_kernels_or_not_written() {
        let good = folder(|_| {});
        let images = Images::read(good.path()).unwrap();
        KERNELS.iter().for_each(|kernel| assert!(images.image(kernel.stem).is_ok(), "{}", kernel.stem));
        let empty = tempfile::tempdir().unwrap();
        assert!(matches!(Index::write(empty.path(), "test"), Err(ImageError::Io { .. })));
        assert!(!empty.path().join("index.json").exists());
    }

    #[test]
    fn a_folder_of_other_sources_or_another_version_is_refused() {
        let other = folder(|index| index.source_hash = "0".into());
        assert!(matches!(Images::read(other.path()), Err(ImageError::OtherSources { .. })));
        let later = folder(|index| index.schema_version = 2);
        let said = Images::read(later.path()).unwrap_err().to_string();
        assert!(said.contains("schema_version 2, wanted 1"), "{said}");
    }

    #[test]
    fn the_folder_of_the_environment_comes_first_and_never_falls_back() {
        let good = folder(|_| {});
        let empty = tempfile::tempdir().unwrap();
        assert!(find(None, None).unwrap().is_none());
        assert!(find(None, Some(empty.path())).unwrap().is_none());
        assert!(find(None, Some(good.path())).unwrap().is_some());
        assert!(find(Some(OsStr::new("")), Some(good.path())).unwrap().is_some());
        assert!(matches!(find(Some(empty.path().as_os_str()), Some(good.path())), Err(ImageError::Io { .. })));
    }
}
