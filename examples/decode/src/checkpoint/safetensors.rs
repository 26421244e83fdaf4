// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Safetensors files: a length, a JSON header, and data without gaps.

use std::collections::HashMap;
use std::io::SeekFrom;

use safetensors::Dtype;
use serde::Deserialize;

use super::store::{Entry, Source};
use super::{Defect, Encoding};

/// The format allows no longer header.
const LONGEST_HEADER: u64 = 100_000_000;
/// The length before the header.
const PREFIX: u64 = 8;

#[derive(Deserialize)]
struct Header {
    #[serde(rename = "__metadata__")]
    _metadata: Option<HashMap<String, String>>,
    #[serde(flatten)]
    tensors: HashMap<String, Description>,
}

#[derive(Deserialize)]
struct Description {
    dtype: Dtype,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

/// Reads everything but the data.
///
/// # Errors
/// [`Defect`].
pub fn read(source: &mut dyn Source) -> Result<Vec<(String, Entry)>, Defect> {
    let length = source.seek(SeekFrom::End(0))?;
    source.seek(SeekFrom::Start(0))?;
    let truncated = |needs, left| Defect::Truncated { what: "the safetensors header".into(), needs, left };
    if length < PREFIX {
        return Err(truncated(PREFIX, length));
    }
    let mut prefix = [0; PREFIX as usize];
    source.read_exact(&mut prefix)?;
    let header = u64::from_le_bytes(prefix);
    if header > LONGEST_HEADER {
        return Err(Defect::unknown("the header's length", header, format!("at most {LONGEST_HEADER}")));
    }
    if header > length - PREFIX {
        return Err(truncated(header, length - PREFIX));
    }
    let mut text = vec![0; header as usize];
    source.read_exact(&mut text)?;
    let parsed = serde_json::from_slice::<Header>(&text);
    let header_of = parsed.map_err(|source| Defect::Json { what: "the safetensors header".into(), source })?;
    let data = length - PREFIX - header;
    let entry = |(name, d): (String, Description)| Ok((name.clone(), entry(&name, &d, PREFIX + header, data)?));
    header_of.tensors.into_iter().map(entry).collect()
}

fn entry(name: &str, description: &Description, start: u64, data: u64) -> Result<Entry, Defect> {
    let encoding = match description.dtype {
        Dtype::F32 => Encoding::F32,
        Dtype::F16 => Encoding::F16,
        Dtype::BF16 => Encoding::Bf16,
        other => {
            let found = format!("{other:?}");
            return Err(Defect::unknown(format!("the dtype of tensor {name}"), found, "one of F32, F16, BF16"));
        }
    };
    let (begin, end) = description.data_offsets;
    if end < begin {
        return Err(Defect::unknown(
            format!("the data of tensor {name}"),
            format!("{begin}..{end}"),
            "a forward range",
        ));
    }
    if end > data {
        return Err(Defect::Truncated { what: format!("tensor {name}"), needs: end, left: data });
    }
    let bytes = description.shape.iter().try_fold(encoding.block().1, |bytes, size| bytes.checked_mul(*size));
    match bytes {
        Some(bytes) if bytes as u64 == end - begin => {
            Ok(Entry { encoding, shape: description.shape.clone(), file: 0, offset: start + begin, bytes })
        }
        _ => {
            let legal = format!("what its shape {:?} takes", description.shape);
            Err(Defect::unknown(format!("the bytes of tensor {name}"), end - begin, legal))
        }
    }
}
