// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Filling a tensor as a case says.

use super::CaseError;
use crate::codec;
use crate::host::HostTensor;
use crate::input::{Generator, Grade, Spread};
use crate::suite::Fill;

/// Fills a tensor; answers where its values came from if it was a file.
pub(super) fn fill_tensor(
    tensor: &mut HostTensor,
    argument: &str,
    fill: Fill,
    generator: &Generator,
) -> Result<Option<String>, CaseError> {
    let dtype = tensor.dtype();
    match fill {
        Fill::Draw(spread) if dtype.is_float() => return Ok(generator.fill(tensor, argument, spread)?),
        Fill::Tame(spread) if dtype.is_float() => {
            let tame = match generator.grade() {
                Grade::Wide | Grade::Special => generator.with_grade(Grade::Normal)?,
                _ => generator.clone(),
            };
            return Ok(tame.fill(tensor, argument, spread)?);
        }
        Fill::Draw(Spread { center, scale }) | Fill::Tame(Spread { center, scale }) => {
            let (low, high) = ((center - 4.0 * scale) as i64, (center + 4.0 * scale) as i64);
            generator.fill_integers(tensor, argument, low, high)?;
        }
        Fill::Integers(low, high) => generator.fill_integers(tensor, argument, low, high)?,
        Fill::Cycle(values) => generator.place(tensor, argument, |at| Some(values[at % values.len()]))?,
        Fill::Strewn { low, high, every, outside } => {
            generator.fill_integers(tensor, argument, low, high)?;
            generator.place(tensor, argument, |at| strewn(at, every, outside))?;
        }
        Fill::Distinct(low, high) => generator.fill_distinct(tensor, argument, low, high)?,
        Fill::DistinctStrewn { low, high, every, outside } => {
            generator.fill_distinct(tensor, argument, low, high)?;
            generator.place(tensor, argument, |at| strewn(at, every, outside))?;
        }
        Fill::Constant(value) => tensor.fill_rows(|_, row| row.fill(codec::encode(dtype, value))),
        Fill::Function(value) => tensor.fill_rows(|index, row| {
            row.iter_mut().enumerate().for_each(|(column, bits)| *bits = codec::encode(dtype, value(index, column)));
        }),
    }
    Ok(None)
}

/// What stands at element `at` instead of a drawn value, if anything.
fn strewn(at: usize, every: usize, outside: &[i64]) -> Option<i64> {
    let every = every.max(1);
    ((at + 1).is_multiple_of(every)).then(|| outside[(at / every) % outside.len()])
}
