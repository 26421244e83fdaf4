// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Integer inputs: indices, positions, slots.

use super::{Generator, InputError, Stream, deviates};
use crate::codec;
use crate::host::HostTensor;

impl Generator {
    /// Fills an integer tensor with values uniform on `low ..= high`, from the stream `argument`, whatever the grade.
    ///
    /// # Errors
    /// [`InputError::Range`] when the range is empty or the dtype does not hold it.
    pub fn fill_integers(
        &self,
        tensor: &mut HostTensor,
        argument: &str,
        low: i64,
        high: i64,
    ) -> Result<(), InputError> {
        let dtype = tensor.dtype();
        let count = match codec::integer_range(dtype) {
            Some((least, most)) if least <= low.into() && i128::from(high) <= most && low <= high => {
                high.wrapping_sub(low) as u64
            }
            _ => return Err(InputError::Range { argument: argument.to_owned(), dtype, low, high }),
        };
        let stream = Stream::named(self.seed, argument);
        let width = tensor.layout().width();
        tensor.fill_rows(|index, row| {
            for (i, bits) in row.iter_mut().enumerate() {
                let [a, b, ..] = stream.block((index * width + i) as u64);
                let word = u64::from(a) << 32 | u64::from(b);
                let step = (u128::from(word) * (u128::from(count) + 1)) >> 64;
                *bits = codec::encode_integer(dtype, i128::from(low) + step as i128);
            }
        });
        Ok(())
    }

    /// Fills an integer tensor with values of `low ..= high`, no two alike, in an order drawn from the stream `argument`.
    ///
    /// # Errors
    /// [`InputError::Range`] when the range holds fewer values than the tensor, or the dtype does not hold it.
    pub fn fill_distinct(
        &self,
        tensor: &mut HostTensor,
        argument: &str,
        low: i64,
        high: i64,
    ) -> Result<(), InputError> {
        let (dtype, count) = (tensor.dtype(), tensor.layout().elements());
        let held = codec::integer_range(dtype).is_some_and(|(least, most)| {
            least <= low.into() && i128::from(high) <= most && count as i128 <= i128::from(high) - i128::from(low) + 1
        });
        if !held {
            return Err(InputError::Range { argument: argument.to_owned(), dtype, low, high });
        }
        let stream = Stream::named(self.seed, argument);
        let mut values: Vec<i64> = if count == 0 { Vec::new() } else { (low..=high).collect() };
        // Fisher and Yates, as far as values are needed.
        for place in 0..count {
            let [word, ..] = stream.block(place as u64);
            let left = (values.len() - place) as u64;
            values.swap(place, place + deviates::pick(word, 0, left) as usize);
        }
        self.place(tensor, argument, |at| Some(values[at]))
    }

    /// Replaces the elements of an integer tensor for which `value` has one; elements are counted in row-major order.
    ///
    /// # Errors
    /// [`InputError::Range`] for a value that the dtype does not hold.
    pub fn place(
        &self,
        tensor: &mut HostTensor,
        argument: &str,
        value: impl Fn(usize) -> Option<i64>,
    ) -> Result<(), InputError> {
        let (dtype, width) = (tensor.dtype(), tensor.layout().width());
        let range = codec::integer_range(dtype);
        let mut refused = None;
        tensor.rewrite_rows(|index, row| {
            for (column, bits) in row.iter_mut().enumerate() {
                let Some(value) = value(index * width + column) else { continue };
                match range {
                    Some((least, most)) if (least..=most).contains(&value.into()) => {
                        *bits = codec::encode_integer(dtype, value.into());
                    }
                    _ => refused = Some(value),
                }
            }
        });
        match refused {
            None => Ok(()),
            Some(v) => Err(InputError::Range { argument: argument.to_owned(), dtype, low: v, high: v }),
        }
    }
}
