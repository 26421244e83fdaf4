// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Where images are.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use crate::index::{ImageFacts, Index};
use crate::{ImageError, built, source_hash, sources};

/// Names the folder of images.
const VARIABLE: &str = "OPWEAVE_KERNELS";

/// Where images were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the folder that `OPWEAVE_KERNELS` names.
    Environment(PathBuf),
    /// In `kernels` beside the running binary.
    BesideBinary(PathBuf),
    /// In this crate.
    Embedded,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Environment(path) => write!(f, "{VARIABLE}={}", path.display()),
            Origin::BesideBinary(path) => write!(f, "{} beside the binary", path.display()),
            Origin::Embedded if built::INDEX.is_none() => f.write_str("none in the package"),
            Origin::Embedded => f.write_str("in the package"),
        }
    }
}

/// A set of images with its index, or the knowledge that there is none.
#[derive(Clone, Debug)]
pub struct Images {
    origin: Origin,
    index: Option<Index>,
}

/// An image whose bytes and sources were checked.
#[derive(Clone, Debug)]
pub struct Image {
    bytes: Cow<'static, [u8]>,
    facts: ImageFacts,
}

/// The images of this process. Reads the environment, so it is called when kernels are registered or prepared.
///
/// # Errors
/// If a folder that was asked for has no index, or an index cannot be read.
pub fn images() -> Result<Images, ImageError> {
    let executable = env::current_exe().ok();
    Images::locate(env::var_os(VARIABLE).as_deref(), executable.as_deref())
}

impl Images {
    /// The images for this value of `OPWEAVE_KERNELS`, of which an empty one is none, and this binary.
    ///
    /// # Errors
    /// As for [`images`].
    pub fn locate(variable: Option<&OsStr>, executable: Option<&Path>) -> Result<Images, ImageError> {
        if let Some(folder) = variable.filter(|value| !value.to_string_lossy().trim().is_empty()) {
            let folder = PathBuf::from(folder);
            let path = folder.join("index.json");
            if !path.is_file() {
                return Err(ImageError::NoIndex { path });
            }
            return Images::read(Origin::Environment(folder), &path);
        }
        if let Some(folder) = executable.and_then(Path::parent).map(|folder| folder.join("kernels")) {
            let path = folder.join("index.json");
            if path.is_file() {
                return Images::read(Origin::BesideBinary(folder), &path);
            }
        }
        let index = built::INDEX.map(|text| Index::parse(text, &Origin::Embedded.to_string())).transpose()?;
        Ok(Images { origin: Origin::Embedded, index })
    }

    fn read(origin: Origin, path: &Path) -> Result<Images, ImageError> {
        let text = fs::read_to_string(path).map_err(|source| ImageError::Io { path: path.to_owned(), source })?;
        let index = Index::parse(&text, &origin.to_string())?;
        Ok(Images { origin, index: Some(index) })
    }

    /// Where they were found.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The index, if there are any.
    #[must_use]
    pub fn index(&self) -> Option<&Index> {
        self.index.as_ref()
    }

    /// The facts of an image, without reading it: whether there is one, and whether it is of this crate's sources.
    ///
    /// # Errors
    /// [`ImageError::NotBuilt`] or [`ImageError::OtherSources`].
    pub fn facts(&self, stem: &str) -> Result<&ImageFacts, ImageError> {
        let origin = || self.origin.to_string();
        let (Some(facts), Some(wanted)) = (self.index.as_ref().and_then(|index| index.image(stem)), source_hash(stem))
        else {
            return Err(ImageError::NotBuilt { stem: stem.to_owned(), origin: origin() });
        };
        if facts.source_hash == wanted {
            return Ok(facts);
        }
        let (found, wanted) = (facts.source_hash.clone(), wanted.to_owned());
        Err(ImageError::OtherSources { stem: stem.to_owned(), origin: origin(), found, wanted })
    }

    /// An image, read and checked.
    ///
    /// # Errors
    /// As for [`Images::facts`]; if the file cannot be read or its bytes are not those of the index.
    pub fn image(&self, stem: &str) -> Result<Image, ImageError> {
        let facts = self.facts(stem)?.clone();
        let origin = || self.origin.to_string();
        let bytes = match &self.origin {
            Origin::Environment(folder) | Origin::BesideBinary(folder) => {
                let path = folder.join(&facts.file);
                Cow::Owned(fs::read(&path).map_err(|source| ImageError::Io { path, source })?)
            }
            Origin::Embedded => match built::IMAGES.iter().find(|(file, _)| *file == facts.file) {
                Some((_, bytes)) => Cow::Borrowed(*bytes),
                None => return Err(ImageError::NotBuilt { stem: stem.to_owned(), origin: origin() }),
            },
        };
        let found = sources::sha256(&bytes);
        if found != facts.sha256 {
            let wanted = facts.sha256;
            return Err(ImageError::HashMismatch { stem: stem.to_owned(), origin: origin(), found, wanted });
        }
        Ok(Image { bytes, facts })
    }
}

impl Image {
    /// The fatbin, as the driver loads it.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What the index says of it.
    #[must_use]
    pub fn facts(&self) -> &ImageFacts {
        &self.facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::example;

    const STEM: &str = "rms_norm";

    fn folder_of(index: &str, bytes: &[u8]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("index.json"), index).unwrap();
        fs::write(folder.path().join("rms_norm.fatbin"), bytes).unwrap();
        folder
    }

    fn good(bytes: &[u8]) -> String {
        example(STEM, bytes, source_hash(STEM).unwrap()).to_json().unwrap()
    }

    fn in_folder(folder: &Path) -> Images {
        Images::locate(Some(folder.as_os_str()), None).unwrap()
    }

    #[test]
    fn the_folder_of_the_environment_comes_first_and_never_falls_back() {
        let (named, beside) = (folder_of(&good(b"named"), b"named"), tempfile::tempdir().unwrap());
        fs::create_dir(beside.path().join("kernels")).unwrap();
        fs::write(beside.path().join("kernels/index.json"), good(b"beside")).unwrap();
        fs::write(beside.path().join("kernels/rms_norm.fatbin"), b"beside").unwrap();
        let binary = beside.path().join("engine");
        let found = |variable: Option<&OsStr>| Images::locate(variable, Some(&binary)).unwrap().image(STEM).unwrap();
        assert_eq!(found(Some(named.path().as_os_str())).bytes(), b"named");
        for unset in [None, Some(OsStr::new("")), Some(OsStr::new(" "))] {
            assert_eq!(found(unset).bytes(), b"beside");
        }
        let error = Images::locate(Some(OsStr::new("/no/such/folder")), Some(&binary)).unwrap_err();
        assert!(matches!(error, ImageError::NoIndex { .. }), "{error}");
        assert!(error.to_string().contains("/no/such/folder/index.json"));
        // An image that the folder lacks is not taken from elsewhere.
        let error = in_folder(named.path()).image("layer_norm").unwrap_err().to_string();
        assert!(error.contains("layer_norm: not built (OPWEAVE_KERNELS="), "{error}");
    }

    #[test]
    fn without_folders_the_package_answers() {
        let images = Images::locate(None, Some(Path::new("/no/such/folder/engine"))).unwrap();
        assert_eq!(*images.origin(), Origin::Embedded);
        match images.image(STEM) {
            Ok(image) => assert_eq!(image.bytes().len() as u64, image.facts().bytes),
            // Images of other sources are embedded as they are, and refused: building them is not this crate's affair.
            Err(error) => {
                assert!(matches!(error, ImageError::NotBuilt { .. } | ImageError::OtherSources { .. }), "{error}");
            }
        }
    }

    #[test]
    fn an_image_that_is_not_what_the_index_says_is_refused() {
        let folder = folder_of(&good(b"bytes"), b"other");
        let error = in_folder(folder.path()).image(STEM).unwrap_err();
        assert!(matches!(error, ImageError::HashMismatch { .. }), "{error}");
        fs::remove_file(folder.path().join("rms_norm.fatbin")).unwrap();
        let error = in_folder(folder.path()).image(STEM).unwrap_err();
        assert!(matches!(error, ImageError::Io { .. }), "{error}");
    }

    #[test]
    fn an_image_of_other_sources_is_refused() {
        let index = example(STEM, b"bytes", "0123").to_json().unwrap();
        let images = in_folder(folder_of(&index, b"bytes").path());
        let error = images.facts(STEM).unwrap_err();
        assert!(matches!(error, ImageError::OtherSources { .. }), "{error}");
        assert!(error.to_string().contains("built from sources 0123, this crate has"), "{error}");
    }

    #[test]
    fn an_index_that_cannot_be_read_is_an_error() {
        let folder = folder_of("{\"schema_version\": 9}", b"");
        let error = Images::locate(Some(folder.path().as_os_str()), None).unwrap_err();
        assert!(matches!(error, ImageError::SchemaVersion { found: 9, .. }), "{error}");
        let folder = folder_of("nothing", b"");
        let error = Images::locate(Some(folder.path().as_os_str()), None).unwrap_err();
        assert!(matches!(error, ImageError::CorruptIndex { .. }), "{error}");
    }
}
