// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What inputs are made of.
//!
//! A [`Generator`] draws each argument from a stream that bears the argument's name, so adding an argument to an operator
//! moves no other argument's values. Draws are made in f32 on the host and rounded once to the argument's dtype; devices
//! receive the finished bytes. So every implementation on every device sees identical values, and f16 and bf16 cases see
//! the values of the f32 case, rounded.

mod deviates;
mod integers;
mod philox;
mod real;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use opweave_tensor::DType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use philox::{Stream, philox};
pub use real::{RealError, RealSource};

use crate::codec;
use crate::host::HostTensor;

/// The seed where none is given.
pub const DEFAULT_SEED: u64 = 5309;

/// Names the algorithm in reports: generator, streams, distributions and rounding. A change of any value drawn changes it.
pub const ALGORITHM: &str = "philox4x32-10/fnv1a-streams/f32-box-muller/rne/1";

/// A kind of input values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Grade {
    /// Standard normal, scaled by the argument's [`Spread`].
    #[default]
    Normal,
    /// Uniform on [-1, 1), scaled by the argument's [`Spread`].
    Uniform,
    /// Integers from -8 to 8: sums of products of them are exact in f32 in any order.
    Exact,
    /// Random signs and mantissas, exponents uniform across the dtype's normal range (within that of f32).
    Wide,
    /// Normal values among which NaN, infinities, subnormals and signed zeros are strewn, by row.
    Special,
    /// Rows of tensors of a safetensors file.
    Real,
}

impl Grade {
    /// Every grade, in declaration order.
    pub const ALL: &'static [Grade] =
        &[Grade::Normal, Grade::Uniform, Grade::Exact, Grade::Wide, Grade::Special, Grade::Real];

    /// The name used in reports and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Grade::Normal => "normal",
            Grade::Uniform => "uniform",
            Grade::Exact => "exact",
            Grade::Wide => "wide",
            Grade::Special => "special",
            Grade::Real => "real",
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no grade.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("grade `{0}` is unknown; expected one of normal, uniform, exact, wide, special, real")]
pub struct ParseGradeError(pub String);

impl FromStr for Grade {
    type Err = ParseGradeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Grade::ALL.iter().copied().find(|g| g.name() == text).ok_or_else(|| ParseGradeError(text.to_owned()))
    }
}

/// Centre and scale of an argument's normal and uniform values: a norm's weights lie about 1, not about 0.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// The mean.
    pub center: f32,
    /// The factor on the drawn value.
    pub scale: f32,
}

impl Spread {
    /// Centre 0, scale 1.
    pub const STANDARD: Spread = Spread { center: 0.0, scale: 1.0 };
}

/// Why an input cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// Grade `real` without a file.
    #[error("grade `real` needs a safetensors file; none was given")]
    NoTensors,
    /// The file cannot serve.
    #[error(transparent)]
    Real(#[from] RealError),
    /// Floats asked of an integer dtype.
    #[error("argument `{argument}` has dtype {dtype}; grades are for float dtypes")]
    NotFloat {
        /// The argument.
        argument: String,
        /// Its dtype.
        dtype: DType,
    },
    /// A range that the dtype does not hold.
    #[error("argument `{argument}` of dtype {dtype} cannot hold {low} ..= {high}")]
    Range {
        /// The argument.
        argument: String,
        /// Its dtype.
        dtype: DType,
        /// The lowest value asked for.
        low: i64,
        /// The highest.
        high: i64,
    },
}

/// Draws inputs; see the module's documentation.
#[derive(Clone, Debug)]
pub struct Generator {
    seed: u64,
    grade: Grade,
    real: Option<Arc<RealSource>>,
}

impl Generator {
    /// A generator of one of the synthetic grades, or of `real` with its file.
    ///
    /// # Errors
    /// [`InputError::NoTensors`] for `real` without a file.
    pub fn new(seed: u64, grade: Grade, real: Option<Arc<RealSource>>) -> Result<Generator, InputError> {
        if grade == Grade::Real && real.is_none() {
            return Err(InputError::NoTensors);
        }
        Ok(Generator { seed, grade, real })
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The grade.
    pub fn grade(&self) -> Grade {
        self.grade
    }

    /// The same generator with another grade: a case may ask for one of its own.
    ///
    /// # Errors
    /// As [`Generator::new`].
    pub fn with_grade(&self, grade: Grade) -> Result<Generator, InputError> {
        Generator::new(self.seed, grade, self.real.clone())
    }

    /// The same generator with another seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Generator {
        Generator { seed, ..self.clone() }
    }

    /// Fills a float tensor from the stream `argument`. Returns where the values came from if it was a file.
    ///
    /// # Errors
    /// [`InputError::NotFloat`] for an integer tensor; [`InputError::Real`] when the file cannot be read.
    pub fn fill(&self, tensor: &mut HostTensor, argument: &str, spread: Spread) -> Result<Option<String>, InputError> {
        let dtype = tensor.dtype();
        let Some(format) = codec::format(dtype) else {
            return Err(InputError::NotFloat { argument: argument.to_owned(), dtype });
        };
        let stream = Stream::named(self.seed, argument);
        let (rows, width) = (tensor.layout().rows(), tensor.layout().width());
        if let (Grade::Real, Some(real)) = (self.grade, &self.real) {
            let flat = tensor.layout().shape.len() < 2;
            let mut reader = real.reader(rows, width, flat, stream.block(0))?;
            let mut values = Vec::with_capacity(width);
            let mut failure = None;
            tensor.fill_rows(|_, row| match reader.next_row(&mut values) {
                Ok(()) => row.iter_mut().zip(&values).for_each(|(bits, &v)| *bits = format.encode(v)),
                Err(error) => failure = Some(error),
            });
            return match failure {
                Some(error) => Err(error.into()),
                None => Ok(Some(reader.origin())),
            };
        }
        let flat = tensor.layout().shape.len() < 2;
        tensor.fill_rows_apart(|index, row| {
            let mut values = vec![0.0_f32; width];
            self.draw(stream, index, flat, dtype, spread, &mut values);
            row.iter_mut().zip(&values).for_each(|(bits, &v)| *bits = format.encode(f64::from(v)));
        });
        Ok(None)
    }

    /// Draws row `index`. A tensor of rank 0 or 1 is `flat`: its one row is no token.
    fn draw(&self, stream: Stream, index: usize, flat: bool, dtype: DType, spread: Spread, row: &mut [f32]) {
        let first = (index as u64).wrapping_mul(row.len() as u64);
        match self.grade {
            Grade::Normal | Grade::Real => normals(stream, first, spread, row),
            Grade::Uniform => {
                words(stream, first, row, |word| spread.center + spread.scale * deviates::symmetric(word))
            }
            Grade::Exact => words(stream, first, row, |word| deviates::pick(word, -8, 17) as f32),
            Grade::Wide => {
                let (low, high) = exponents(dtype);
                for (i, value) in row.iter_mut().enumerate() {
                    let [mantissa, exponent, ..] = stream.block(first + i as u64);
                    let exponent = deviates::pick(exponent, low.into(), (high - low + 1) as u64);
                    let field = (exponent + 127) as u32;
                    *value = f32::from_bits(mantissa & 0x807f_ffff | field << 23);
                }
            }
            Grade::Special => {
                normals(stream, first, spread, row);
                // A weight is one row in each case: the stream chooses its class.
                let class = if flat {
                    FLAT_CLASSES[stream.block(u64::MAX)[0] as usize % FLAT_CLASSES.len()]
                } else {
                    index % 8
                };
                strew(stream, first, class, dtype, row);
            }
        }
    }
}

/// Normal exponents of the dtype that f32 has too. The top one is left out: rounding to the dtype could overflow it.
fn exponents(dtype: DType) -> (i32, i32) {
    let (low, high) = codec::format(dtype).map_or((-126, 127), codec::Format::exponents);
    (low.max(-126), high.min(127) - 1)
}

fn words(stream: Stream, first: u64, row: &mut [f32], map: impl Fn(u32) -> f32) {
    let mut block = (u64::MAX, [0; 4]);
    for (i, value) in row.iter_mut().enumerate() {
        let at = first + i as u64;
        if block.0 != at / 4 {
            block = (at / 4, stream.block(at / 4));
        }
        *value = map(block.1[(at % 4) as usize]);
    }
}

fn normals(stream: Stream, first: u64, spread: Spread, row: &mut [f32]) {
    const BLOCKS: usize = deviates::LANES / 2;
    const AT_ONCE: usize = 4 * BLOCKS;
    // A block of the stream makes four deviates, wherever the row begins among them.
    let mut begin = first / 4;
    let mut skip = (first % 4) as usize;
    let mut rest = row;
    while !rest.is_empty() {
        let mut words = [[0; deviates::LANES]; 2];
        for block in 0..BLOCKS {
            let [a, b, c, d] = stream.block(begin.wrapping_add(block as u64));
            (words[0][2 * block], words[1][2 * block]) = (a, b);
            (words[0][2 * block + 1], words[1][2 * block + 1]) = (c, d);
        }
        let drawn = deviates::normal_pairs(&words);
        let (now, later) = rest.split_at_mut(rest.len().min(AT_ONCE - skip));
        for (i, value) in now.iter_mut().enumerate() {
            let at = skip + i;
            *value = spread.center + spread.scale * drawn[at % 2][at / 2];
        }
        (begin, skip, rest) = (begin.wrapping_add(BLOCKS as u64), 0, later);
    }
}

/// Classes of [`strew`] for vectors: one special element or a few. A weight of zeros or subnormals would leave nothing of
/// any output.
const FLAT_CLASSES: [usize; 5] = [1, 2, 3, 6, 7];

/// Puts special values into a row by its class: so that some rows stay finite, and each kind is met alone and mixed.
fn strew(stream: Stream, first: u64, class: usize, dtype: DType, row: &mut [f32]) {
    let Some(last) = row.len().checked_sub(1) else { return };
    let [place, other, ..] = stream.block(first ^ 1 << 63);
    let place = deviates::pick(place, 0, row.len() as u64) as usize;
    let other = deviates::pick(other, 0, row.len() as u64) as usize;
    let tiny = codec::format(dtype).map_or(0.0, codec::Format::smallest).max(f64::from(f32::from_bits(1))) as f32;
    match class {
        0 => {}
        1 => row[place] = f32::NAN,
        2 => row[place] = f32::INFINITY,
        3 => row[place] = f32::NEG_INFINITY,
        // All subnormals of the dtype (and those of f32 for f64), so that equal values do not pile up.
        4 => {
            let count = codec::format(dtype).map_or(1.0, |f| 1.0 / f.epsilon()).min(8_388_608.0) as u64 - 1;
            for (i, value) in row.iter_mut().enumerate() {
                let word = stream.block(first + i as u64)[2];
                *value = (tiny * (1 + deviates::pick(word, 0, count)) as f32).copysign(*value);
            }
        }
        5 => row.iter_mut().for_each(|v| *v = 0.0_f32.copysign(*v)),
        6 => {
            row[place] = f32::INFINITY;
            row[other] = f32::NEG_INFINITY;
        }
        _ => {
            row[0] = -0.0;
            row[last] = tiny;
            row[place] = f32::NAN;
        }
    }
}

#[cfg(test)]
mod tests;
