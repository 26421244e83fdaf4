// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Tensors where they are: in files, read one at a time.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};

use super::{Defect, Encoding};

/// What a file is read through.
pub trait Source: Read + Seek + Send {}

impl<T: Read + Seek + Send> Source for T {}

/// Where a tensor is, and what it is. Its bytes lie within its file: that was checked when the file was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// How its elements are stored.
    pub encoding: Encoding,
    /// Rows first.
    pub shape: Vec<usize>,
    pub(crate) file: usize,
    pub(crate) offset: u64,
    pub(crate) bytes: usize,
}

/// One tensor in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// How its elements are stored.
    pub encoding: Encoding,
    /// Rows first.
    pub shape: Vec<usize>,
    /// As in the file.
    pub bytes: Vec<u8>,
}

impl Tensor {
    /// Its numbers, row by row.
    pub fn to_f32(&self) -> Vec<f32> {
        let mut out = Vec::with_capacity(self.shape.iter().product());
        self.encoding.decode(&self.bytes, &mut out);
        out
    }
}

/// The tensors of a checkpoint.
pub struct Store {
    files: Vec<Box<dyn Source>>,
    entries: BTreeMap<String, Entry>,
}

impl Store {
    pub(crate) fn new() -> Self {
        Store { files: Vec::new(), entries: BTreeMap::new() }
    }

    /// Adds a file and its tensors.
    pub(crate) fn add(
        &mut self,
        source: Box<dyn Source>,
        entries: impl IntoIterator<Item = (String, Entry)>,
    ) -> Result<(), Defect> {
        let file = self.files.len();
        self.files.push(source);
        for (name, entry) in entries {
            if self.entries.contains_key(&name) {
                return Err(Defect::Duplicate { what: format!("tensor {name}") });
            }
            self.entries.insert(name, Entry { file, ..entry });
        }
        Ok(())
    }

    /// The tensors in the order of their names.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(name, entry)| (name.as_str(), entry))
    }

    /// What is known of a tensor.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// Reads a tensor.
    ///
    /// # Errors
    /// [`Defect::Missing`], or [`Defect::Io`].
    pub fn read(&mut self, name: &str) -> Result<Tensor, Defect> {
        let entry = self.entries.get(name).ok_or_else(|| Defect::missing(format!("tensor {name}")))?;
        let file = &mut self.files[entry.file];
        file.seek(SeekFrom::Start(entry.offset))?;
        let mut bytes = vec![0; entry.bytes];
        file.read_exact(&mut bytes)?;
        Ok(Tensor { encoding: entry.encoding, shape: entry.shape.clone(), bytes })
    }
}
