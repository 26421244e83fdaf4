// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A fixture's tensors in files that another program reads and writes: how a library outside this process is held to the
//! same inputs and the same comparator.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use opweave_contract::{Role, TensorSpec};
use opweave_reference::Reference;
use opweave_tensor::DType;
use safetensors::{Dtype, SafeTensors, View};
use serde::Serialize;

use super::{CaseError, Fixture, Judgement};
use crate::host::HostTensor;

/// A tensor of a case, as another program is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Described {
    /// The argument's name in the contract.
    pub name: String,
    /// The dtype's name.
    pub dtype: String,
    /// Extents; contiguous in the file.
    pub shape: Vec<usize>,
}

/// What another program is told of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exchange {
    /// Tensors of the inputs file. What a call both reads and writes is among them.
    pub inputs: Vec<Described>,
    /// Tensors that the outputs file has to hold.
    pub outputs: Vec<Described>,
    /// Scalars by name.
    pub scalars: BTreeMap<&'static str, f64>,
}

/// A contiguous tensor on its way into a file.
struct Flat {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for Flat {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

impl<O: Reference> Fixture<O> {
    /// Writes what the call reads to a safetensors file.
    pub(super) fn export(&self, path: &Path) -> Result<Exchange, CaseError> {
        let mut exchange = Exchange { inputs: Vec::new(), outputs: Vec::new(), scalars: BTreeMap::new() };
        for (scalar, value) in O::signature().scalars.iter().zip(self.scalars()?) {
            exchange.scalars.insert(scalar.name, value);
        }
        let mut flats = Vec::new();
        for (index, spec, image) in self.exchanged()? {
            let described = described(spec, image);
            if spec.role.writes() {
                exchange.outputs.push(described.clone());
            }
            if spec.role != Role::Out {
                let bytes = contiguous(&self.before, index);
                flats.push((spec.name, Flat { dtype: file_dtype(spec.dtype)?, shape: described.shape.clone(), bytes }));
                exchange.inputs.push(described);
            }
        }
        safetensors::serialize_to_file(flats, None, path)
            .map_err(|e| CaseError::Environment(format!("write {}: {e}", path.display())))?;
        Ok(exchange)
    }

    /// Judges the outputs that another program left in a safetensors file, as those of a row are judged.
    pub(super) fn judge_file(&self, path: &Path) -> Result<Judgement, CaseError> {
        let unreadable = |e: &dyn std::fmt::Display| CaseError::Environment(format!("read {}: {e}", path.display()));
        let bytes = fs::read(path).map_err(|e| unreadable(&e))?;
        let file = SafeTensors::deserialize(&bytes).map_err(|e| unreadable(&e))?;
        let mut after: Vec<Option<HostTensor>> = (0..self.before.len()).map(|_| None).collect();
        for (index, spec, image) in self.exchanged()? {
            let mut image = image.duplicate()?;
            if spec.role.writes() {
                let found = file.tensor(spec.name).map_err(|e| unreadable(&e))?;
                let wanted = (file_dtype(spec.dtype)?, &image.layout().shape[..]);
                if (found.dtype(), found.shape()) != wanted {
                    let found = format!("{:?} {:?}", found.dtype(), found.shape());
                    return Err(unreadable(&format_args!("`{}` is {found}, wanted {wanted:?}", spec.name)));
                }
                fill(&mut image, found.data());
            }
            after[index] = Some(image);
        }
        self.judge(&after)
    }

    /// The tensors that exist, each in memory of its own: what an alias or a sample means is nothing that a file says.
    fn exchanged(&self) -> Result<Vec<(usize, &TensorSpec, &HostTensor)>, CaseError> {
        let mut found = Vec::new();
        for (index, spec) in self.specs.tensors().enumerate().filter(|(_, spec)| spec.present) {
            let whole = self.before[index].as_ref().filter(|image| image.is_whole());
            let image = whole.ok_or_else(|| {
                CaseError::Environment(format!(
                    "`{}` is in another's memory or sampled: no other program runs it",
                    spec.name
                ))
            })?;
            found.push((index, spec, image));
        }
        Ok(found)
    }
}

fn described(spec: &TensorSpec, image: &HostTensor) -> Described {
    Described { name: spec.name.to_owned(), dtype: spec.dtype.name().to_owned(), shape: image.layout().shape.clone() }
}

/// The elements side by side in row-major order.
fn contiguous(images: &[Option<HostTensor>], index: usize) -> Vec<u8> {
    let Some(image) = &images[index] else { return Vec::new() };
    let size = image.dtype().bits() / 8;
    let mut bytes = Vec::with_capacity(image.layout().elements() * size);
    let mut row = Vec::new();
    for index in 0..image.layout().rows() {
        image.read_row(index, &mut row);
        row.iter().for_each(|bits| bytes.extend_from_slice(&bits.to_le_bytes()[..size]));
    }
    bytes
}

/// Writes elements that lie side by side to their places.
fn fill(image: &mut HostTensor, bytes: &[u8]) {
    let size = image.dtype().bits() / 8;
    let mut elements = bytes.chunks_exact(size).map(|element| {
        let mut word = [0; 8];
        word[..size].copy_from_slice(element);
        u64::from_le_bytes(word)
    });
    image.fill_rows(|_, row| row.iter_mut().zip(&mut elements).for_each(|(to, from)| *to = from));
}

/// The file's word for a dtype.
fn file_dtype(dtype: DType) -> Result<Dtype, CaseError> {
    Ok(match dtype {
        DType::F64 => Dtype::F64,
        DType::F32 => Dtype::F32,
        DType::F16 => Dtype::F16,
        DType::BF16 => Dtype::BF16,
        DType::F8E4M3 => Dtype::F8_E4M3,
        DType::F8E5M2 => Dtype::F8_E5M2,
        DType::F8E8M0 => Dtype::F8_E8M0,
        DType::I64 => Dtype::I64,
        DType::I32 => Dtype::I32,
        DType::I16 => Dtype::I16,
        DType::I8 => Dtype::I8,
        DType::U32 => Dtype::U32,
        DType::U8 => Dtype::U8,
        other => return Err(CaseError::Environment(format!("{} has no place in a safetensors file", other.name()))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Layout;

    #[test]
    fn elements_go_out_and_come_back_through_any_layout() {
        let layout = Layout::contiguous(DType::BF16, &[3, 5]).padded_rows(2);
        let mut image = HostTensor::zeros(layout.clone()).unwrap();
        image.fill_rows(|row, bits| (0_u64..).zip(bits).for_each(|(i, to)| *to = 0x4000 + 16 * row as u64 + i));
        let bytes = contiguous(&[Some(image)], 0);
        assert_eq!(bytes.len(), 30);
        assert_eq!(bytes[..4], [0x00, 0x40, 0x01, 0x40]);
        let mut back = HostTensor::zeros(layout).unwrap();
        fill(&mut back, &bytes);
        assert_eq!(contiguous(&[Some(back)], 0), bytes);
    }

    #[test]
    fn a_dtype_without_a_place_is_an_error_that_names_it() {
        let named = |dtype| file_dtype(dtype).unwrap_err().to_string();
        assert_eq!(named(DType::I4), "i4 has no place in a safetensors file");
    }
}
