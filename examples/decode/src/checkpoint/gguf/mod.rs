// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! GGUF files of versions 2 and 3, little-endian: a header, metadata, tensor descriptions, and aligned data.
//!
//! The format is llama.cpp's. Every length is compared with what is left of the file before anything is reserved for it.

mod config;
mod cursor;
mod value;

use std::io::{BufReader, SeekFrom};

pub use self::config::config;
pub use self::value::{Metadata, Value};

use self::cursor::Cursor;
use super::store::{Entry, Source};
use super::{Defect, Encoding};

/// The first four bytes.
pub const MAGIC: [u8; 4] = *b"GGUF";
/// Where data begins, unless the file says otherwise.
const ALIGNMENT: usize = 32;
/// No tensor has more dimensions.
const MAX_RANK: u32 = 4;

/// Reads everything but the data.
///
/// # Errors
/// [`Defect`].
pub fn read(source: &mut dyn Source) -> Result<(Metadata, Vec<(String, Entry)>), Defect> {
    let length = source.seek(SeekFrom::End(0))?;
    source.seek(SeekFrom::Start(0))?;
    let mut source = BufReader::new(source);
    let mut cursor = Cursor::new(&mut source, length);
    let magic: [u8; 4] = cursor.array("the magic number")?;
    if magic != MAGIC {
        return Err(Defect::unknown("the magic number", format!("{magic:02x?}"), "GGUF"));
    }
    let version = cursor.u32("the version")?;
    if !matches!(version, 2 | 3) {
        let found = match version.swap_bytes() {
            swapped @ 1..=3 => format!("{swapped} in big-endian order"),
            _ => version.to_string(),
        };
        return Err(Defect::unknown("the GGUF version", found, "2 or 3, little-endian"));
    }
    let tensors = cursor.u64("the number of tensors")?;
    let values = cursor.u64("the number of metadata values")?;
    let metadata = Metadata::read(&mut cursor, values)?;
    let alignment = metadata.size("general.alignment")?.unwrap_or(ALIGNMENT);
    if !alignment.is_power_of_two() {
        return Err(Defect::unknown("general.alignment", alignment, "a power of two"));
    }
    // Lengths of a name and a shape, a type, an offset.
    let tensors = cursor.fits(tensors, 24, "the tensor descriptions")?;
    let mut entries = Vec::new();
    for _ in 0..tensors {
        entries.push(entry(&mut cursor)?);
    }
    let start = cursor.at().checked_next_multiple_of(alignment as u64);
    for (name, entry) in &mut entries {
        let offset = start.and_then(|start| start.checked_add(entry.offset));
        let within = offset.filter(|offset| offset.is_multiple_of(alignment as u64) && *offset <= length);
        let Some(offset) = within else {
            let legal = format!("a multiple of {alignment} within the file");
            return Err(Defect::unknown(format!("the offset of tensor {name}"), entry.offset, legal));
        };
        let left = length - offset;
        if entry.bytes as u64 > left {
            return Err(Defect::Truncated { what: format!("tensor {name}"), needs: entry.bytes as u64, left });
        }
        entry.offset = offset;
    }
    Ok((metadata, entries))
}

/// Reads one tensor's description; its offset is still that of the file's data.
fn entry(cursor: &mut Cursor<'_>) -> Result<(String, Entry), Defect> {
    let name = cursor.text("a tensor's name")?;
    let rank = cursor.u32(&name)?;
    if rank > MAX_RANK {
        return Err(Defect::unknown(format!("the rank of tensor {name}"), rank, format!("at most {MAX_RANK}")));
    }
    let mut shape = Vec::new();
    for _ in 0..rank {
        let size = cursor.u64(&name)?;
        shape.push(usize::try_from(size).map_err(|_| too_large(&name, size))?);
    }
    let kind = cursor.u32(&name)?;
    let encoding = encoding(kind).ok_or_else(|| {
        let known = Encoding::ALL.map(Encoding::name).join(", ");
        Defect::unknown(format!("the type of tensor {name}"), type_name(kind), format!("one of {known}"))
    })?;
    let offset = cursor.u64(&name)?;
    // The file counts from the innermost dimension.
    shape.reverse();
    let width = shape.last().copied().unwrap_or(1);
    let row = encoding.row_bytes(width).ok_or_else(|| {
        let legal = format!("a multiple of {}", encoding.block().0);
        Defect::unknown(format!("the width of tensor {name}"), width, legal)
    })?;
    let rows = shape.iter().rev().skip(1).try_fold(1_usize, |rows, size| rows.checked_mul(*size));
    let bytes = rows.and_then(|rows| rows.checked_mul(row)).ok_or_else(|| too_large(&name, width as u64))?;
    Ok((name, Entry { encoding, shape, file: 0, offset, bytes }))
}

fn too_large(name: &str, size: u64) -> Defect {
    Defect::unknown(format!("a dimension of tensor {name}"), size, "a size that memory can address")
}

fn encoding(kind: u32) -> Option<Encoding> {
    Some(match kind {
        0 => Encoding::F32,
        1 => Encoding::F16,
        2 => Encoding::Q4_0,
        3 => Encoding::Q4_1,
        8 => Encoding::Q8_0,
        30 => Encoding::Bf16,
        _ => return None,
    })
}

/// The name of a type that cannot be read, where it has one that users know.
fn type_name(kind: u32) -> String {
    let name = match kind {
        6 => "q5_0",
        7 => "q5_1",
        9 => "q8_1",
        10 => "q2_k",
        11 => "q3_k",
        12 => "q4_k",
        13 => "q5_k",
        14 => "q6_k",
        15 => "q8_k",
        _ => return format!("number {kind}"),
    };
    name.to_owned()
}
