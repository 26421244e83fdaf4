// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Real values: rows of the tensors of a safetensors file.
//!
//! Only the header is read at opening; rows are read as they are asked for. A tensor serves an argument if its last
//! dimension is the argument's: rows of a matrix (an embedding table, a projection) for activations, a vector (a norm's
//! weight) for weights. Where no width matches, the largest tensor is read as one long sequence and cut into rows, and the
//! origin that goes into the report says so.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use opweave_tensor::DType;
use safetensors::Dtype;
use safetensors::tensor::Metadata;

use super::deviates::pick;
use crate::codec;

/// The longest header that is read; the format's own limit.
const MAX_HEADER: u64 = 100_000_000;

/// Why a file cannot serve as a source of values.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RealError {
    /// The file cannot be read.
    #[error("tensors file {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// The file is no safetensors file.
    #[error("tensors file {path} is not in safetensors format: {reason}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// No tensor has values that can be used.
    #[error("tensors file {path} has no tensor in f64, f32, f16 or bf16 with elements; it holds {held}")]
    Empty {
        /// The file.
        path: PathBuf,
        /// What it holds instead.
        held: String,
    },
}

/// One usable tensor of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    name: String,
    dtype: DType,
    rank: usize,
    width: usize,
    elements: usize,
    /// Byte offset in the file.
    start: u64,
}

/// An open safetensors file.
#[derive(Debug)]
pub struct RealSource {
    path: PathBuf,
    file: Mutex<File>,
    tensors: Vec<Held>,
}

impl RealSource {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// [`RealError`].
    pub fn open(path: &Path) -> Result<RealSource, RealError> {
        let io = |source| RealError::Io { path: path.to_owned(), source };
        let format = |reason: String| RealError::Format { path: path.to_owned(), reason };
        let mut file = File::open(path).map_err(io)?;
        let total = file.metadata().map_err(io)?.len();
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(|_| format("shorter than its header's length field".into()))?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER || length.saturating_add(8) > total {
            return Err(format(format!("a header of {length} bytes in a file of {total}")));
        }
        let mut header = vec![0; length as usize];
        file.read_exact(&mut header).map_err(io)?;
        let metadata: Metadata = serde_json::from_slice(&header).map_err(|error| format(error.to_string()))?;
        let mut tensors = Vec::new();
        for (name, info) in metadata.tensors() {
            let (start, end) = info.data_offsets;
            let (start, end) = (8 + length + start as u64, 8 + length + end as u64);
            let elements = info.shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d));
            let bytes = elements.and_then(|n| n.checked_mul(info.dtype.bitsize())).map(|bits| bits as u64 / 8);
            if bytes != end.checked_sub(start) || end > total {
                return Err(format(format!("tensor `{name}` does not fill bytes {start} to {end} of {total}")));
            }
            let (Some(elements), Some(dtype)) = (elements, dtype(info.dtype)) else { continue };
            if elements > 0 {
                let width = info.shape.last().copied().unwrap_or(1);
                tensors.push(Held { name, dtype, rank: info.shape.len(), width, elements, start });
            }
        }
        if tensors.is_empty() {
            let mut held: Vec<_> = metadata.tensors().iter().map(|(n, i)| format!("`{n}` {:?}", i.dtype)).collect();
            held.sort();
            held.truncate(8);
            let held = if held.is_empty() { "nothing".to_owned() } else { held.join(", ") };
            return Err(RealError::Empty { path: path.to_owned(), held });
        }
        // By name: the header's map has no order, and the choice below must not depend on one.
        tensors.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(RealSource { path: path.to_owned(), file: Mutex::new(file), tensors })
    }

    /// A reader of `rows` rows of `width` values for an argument, `flat` if it is a vector. `words` choose among the
    /// tensors that fit, and the first row.
    pub(super) fn reader(
        &self,
        rows: usize,
        width: usize,
        flat: bool,
        words: [u32; 4],
    ) -> Result<RealReader<'_>, RealError> {
        let fits = |vector: bool| {
            self.tensors.iter().filter(move |t| t.width == width && (t.rank < 2) == vector).collect::<Vec<_>>()
        };
        let mut candidates = fits(flat);
        if candidates.is_empty() {
            candidates = fits(!flat);
        }
        let (held, cut) = match candidates.get(pick(words[0], 0, candidates.len() as u64) as usize) {
            Some(&held) => (held, false),
            None => {
                let largest = self.tensors.iter().max_by_key(|t| t.elements);
                (largest.unwrap_or(&self.tensors[0]), true)
            }
        };
        let unit = if cut { 1 } else { held.width.max(1) };
        let places = (held.elements / unit) as u64;
        let span = (rows as u64).saturating_mul(if cut { width as u64 } else { 1 });
        // Start where the whole run fits, if it does.
        let choices = places.saturating_sub(span).saturating_add(1).max(1);
        let first = pick(words[1], 0, choices) as usize * unit;
        Ok(RealReader { source: self, held, cut, width, rows, first, position: first })
    }

    fn read(&self, held: &Held, element: usize, values: &mut [f64], bytes: &mut Vec<u8>) -> Result<(), RealError> {
        let io = |source| RealError::Io { path: self.path.clone(), source };
        let size = held.dtype.bits() / 8;
        bytes.resize(values.len() * size, 0);
        // A panic while the lock was held leaves the file as good as before: each read seeks first.
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.seek(SeekFrom::Start(held.start + (element * size) as u64)).map_err(io)?;
        file.read_exact(bytes).map_err(io)?;
        for (value, raw) in values.iter_mut().zip(bytes.chunks_exact(size)) {
            let mut word = [0; 8];
            word[..size].copy_from_slice(raw);
            *value = codec::decode(held.dtype, u64::from_le_bytes(word));
        }
        Ok(())
    }
}

/// Reads one argument's rows, in order.
pub(super) struct RealReader<'a> {
    source: &'a RealSource,
    held: &'a Held,
    cut: bool,
    width: usize,
    rows: usize,
    first: usize,
    position: usize,
}

impl RealReader<'_> {
    /// Reads the next row; past the tensor's end it goes on at the start. Values are f32-rounded, as all draws are.
    pub(super) fn next_row(&mut self, row: &mut Vec<f64>) -> Result<(), RealError> {
        row.clear();
        row.resize(self.width, 0.0);
        let mut bytes = Vec::new();
        let mut done = 0;
        while done < self.width {
            let run = (self.width - done).min(self.held.elements - self.position);
            self.source.read(self.held, self.position, &mut row[done..done + run], &mut bytes)?;
            done += run;
            self.position = (self.position + run) % self.held.elements;
        }
        row.iter_mut().for_each(|v| *v = f64::from(*v as f32));
        Ok(())
    }

    /// Where the values come from, for the report.
    pub(super) fn origin(&self) -> String {
        let Held { name, dtype, width, .. } = self.held;
        if self.cut {
            return format!("{name} ({dtype}), cut into rows of {} from element {}", self.width, self.first);
        }
        let start = self.first / width.max(&1);
        format!("{name} ({dtype}), {} rows from row {start}", self.rows)
    }
}

fn dtype(dtype: Dtype) -> Option<DType> {
    Some(match dtype {
        Dtype::F64 => DType::F64,
        Dtype::F32 => DType::F32,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        _ => return None,
    })
}
