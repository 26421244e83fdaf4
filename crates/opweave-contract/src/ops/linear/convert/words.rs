// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Codes in words of 32 bits: GPTQ and AWQ.

use super::{ConvertError, PlainCodes, WeightShape, expect_length, expect_multiple};

/// How a GPTQ file stores the codes of zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StoredZero {
    /// Minus one: `checkpoint_format` `gptq`, and files without one.
    MinusOne,
    /// As they are used: `checkpoint_format` `gptq_v2`.
    AsUsed,
}

/// The column of the result that each place of a word of AWQ holds.
const AWQ_ORDER: [usize; 8] = [0, 2, 4, 6, 1, 3, 5, 7];

/// A weight of GPTQ, without reordered columns (`desc_act` false or `g_idx` in order), as `linear_wna16` takes it. Its scales
/// are as they are wanted, `[in_features / group_size, out_features]`.
///
/// - `qweight`: `[in_features * bits / 32, out_features]`, the first column of the input in the lowest bits.
/// - `qzeros`: `[in_features / group_size, out_features * bits / 32]`, or none for a symmetric weight.
///
/// # Errors
/// [`ConvertError`] when the sizes do not fit each other, or a zero is no code.
pub fn from_gptq(
    (bits, group_size): (usize, usize),
    qweight: &[u32],
    qzeros: Option<(&[u32], StoredZero)>,
    shape: WeightShape,
) -> Result<PlainCodes, ConvertError> {
    let WeightShape { in_features, out_features } = shape;
    let each = codes_of_a_word(bits)?;
    expect_multiple("in_features", in_features, each)?;
    expect_multiple("in_features", in_features, group_size)?;
    expect_length("qweight", qweight.len(), &[in_features / each, out_features])?;
    let code = |n: usize, k: usize| field(qweight[k / each * out_features + n], bits, k % each);
    let codes = rows(bits, shape, code);
    let Some((qzeros, stored)) = qzeros else { return Ok(PlainCodes { codes, zeros: Vec::new() }) };
    expect_multiple("out_features", out_features, each)?;
    let groups = in_features / group_size;
    expect_length("qzeros", qzeros.len(), &[groups, out_features / each])?;
    let more = u32::from(stored == StoredZero::MinusOne);
    let mut zeros = Vec::with_capacity(groups * out_features);
    for group in 0..groups {
        for column in 0..out_features {
            let word = qzeros[group * (out_features / each) + column / each];
            let zero = field(word, bits, column % each) + more;
            zeros.push(u8::try_from(zero).map_err(|_| ConvertError::Zero { group, column })?);
        }
    }
    Ok(PlainCodes { codes, zeros })
}

/// A weight of AWQ, of 4 bits, as `linear_wna16` takes it. Its scales are as they are wanted,
/// `[in_features / group_size, out_features]`.
///
/// - `qweight`: `[in_features, out_features / 8]`.
/// - `qzeros`: `[in_features / group_size, out_features / 8]`, in the same order, as they are used.
///
/// # Errors
/// [`ConvertError`] when the sizes do not fit each other.
pub fn from_awq(
    group_size: usize,
    qweight: &[u32],
    qzeros: &[u32],
    shape: WeightShape,
) -> Result<PlainCodes, ConvertError> {
    let WeightShape { in_features, out_features } = shape;
    expect_multiple("out_features", out_features, AWQ_ORDER.len())?;
    expect_multiple("in_features", in_features, group_size)?;
    // Two codes of a row in a byte.
    expect_multiple("in_features", in_features, 2)?;
    let pitch = out_features / AWQ_ORDER.len();
    expect_length("qweight", qweight.len(), &[in_features, pitch])?;
    expect_length("qzeros", qzeros.len(), &[in_features / group_size, pitch])?;
    let mut place = [0; 8];
    AWQ_ORDER.iter().enumerate().for_each(|(at, &column)| place[column] = at);
    let at = |words: &[u32], line: usize, n: usize| field(words[line * pitch + n / 8], 4, place[n % 8]);
    let codes = rows(4, shape, |n, k| at(qweight, k, n));
    let lines = 0..in_features / group_size;
    let zeros = lines.flat_map(|line| (0..out_features).map(move |n| (line, n)));
    Ok(PlainCodes { codes, zeros: zeros.map(|(line, n)| at(qzeros, line, n) as u8).collect() })
}

fn codes_of_a_word(bits: usize) -> Result<usize, ConvertError> {
    if matches!(bits, 4 | 8) { Ok(32 / bits) } else { Err(ConvertError::Bits { bits }) }
}

/// The code at a place of a word.
fn field(word: u32, bits: usize, place: usize) -> u32 {
    (word >> (bits * place)) & ((1 << bits) - 1)
}

/// Codes in the order of the contract; those of a row are whole bytes.
fn rows(bits: usize, shape: WeightShape, code: impl Fn(usize, usize) -> u32) -> Vec<u8> {
    let WeightShape { in_features, out_features } = shape;
    let mut bytes = Vec::with_capacity(out_features * in_features * bits / 8);
    for n in 0..out_features {
        if bits == 8 {
            bytes.extend((0..in_features).map(|k| code(n, k) as u8));
        } else {
            bytes.extend((0..in_features).step_by(2).map(|k| (code(n, k) | code(n, k + 1) << 4) as u8));
        }
    }
    bytes
}
