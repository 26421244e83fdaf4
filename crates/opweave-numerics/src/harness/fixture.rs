// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What all implementations of a case share: inputs, and what the reference makes of them.

use std::sync::Arc;

use opweave_contract::{ArgSource, ArgSpecs, ArgVisitor, Operator, Role, ScalarParam, TensorSpec};
use opweave_reference::{Arguments, Reference, Values as Numbers};
use opweave_tensor::{DeviceId, RawTensor, ViewError};

use super::CaseError;
use crate::codec;
use crate::compare::{Expected, Tolerance, Values};
use crate::host::{HostTensor, Layout};
use crate::input::{Generator, Grade, Spread};
use crate::report::InputOrigin;
use crate::suite::{Case, Fill, Suite};

/// One output, what it should be, and what it is held to.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Index in the signature.
    pub(super) index: usize,
    pub(super) expected: Expected,
    pub(super) tolerance: Tolerance,
}

type Again<O> = Arc<dyn Fn(u64) -> Result<Fixture<O>, CaseError> + Send + Sync>;

/// Inputs and expected outputs of one case under one seed, on the host.
pub struct Fixture<O: Reference> {
    pub(super) case: Case<O>,
    pub(super) specs: ArgSpecs,
    /// For each tensor the one whose memory it uses: itself, unless it is an alias.
    pub(super) homes: Vec<usize>,
    /// The image of each tensor before the call; none where it is absent or lives in another's memory.
    pub(super) before: Vec<Option<HostTensor>>,
    pub(super) wanted: Vec<Wanted>,
    pub(super) origins: Vec<InputOrigin>,
    again: Option<Again<O>>,
}

impl<O: Reference> std::fmt::Debug for Fixture<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "fixture of {} {}", O::NAME, self.case.label)
    }
}

impl<O: Reference> Fixture<O> {
    /// Draws the inputs of a case and computes its reference.
    ///
    /// # Errors
    /// [`CaseError`].
    pub fn build<S: Suite<Op = O>>(
        suite: &Arc<S>,
        case: &Case<O>,
        generator: &Generator,
    ) -> Result<Fixture<O>, CaseError> {
        let mut fixture = Fixture::draw(&**suite, case, generator)?;
        let (suite, case, generator) = (Arc::clone(suite), case.clone(), generator.clone());
        fixture.again = Some(Arc::new(move |more| {
            let generator = generator.with_seed(generator.seed().wrapping_add(more));
            Fixture::draw(&*suite, &case, &generator)
        }));
        Ok(fixture)
    }

    /// The same case under another seed: `more` is added to it.
    pub(super) fn again(&self, more: u64) -> Result<Option<Fixture<O>>, CaseError> {
        self.again.as_ref().map(|again| again(more)).transpose()
    }

    fn draw<S: Suite<Op = O>>(suite: &S, case: &Case<O>, generator: &Generator) -> Result<Fixture<O>, CaseError> {
        case.check()?;
        let generator = match case.grade {
            Some(grade) => generator.with_grade(grade)?,
            None => generator.clone(),
        };
        let specs = O::describe(&case.problem);
        let homes = homes(case, &specs);
        let (mut before, mut origins) = (Vec::new(), Vec::new());
        let sampled = sample(case);
        for (index, spec) in specs.tensors().enumerate() {
            let layout = case.layout(&specs, index).filter(|_| homes[index] == index);
            let Some(layout) = layout else {
                before.push(None);
                continue;
            };
            let dynamic = spec.dims.first().is_some_and(|d| d.size.dynamic.is_some());
            let mut tensor = match sampled.as_ref().filter(|_| dynamic) {
                Some(tokens) => HostTensor::sampled(layout.clone(), rows_of(&layout, tokens))?,
                None => HostTensor::zeros(layout)?,
            };
            if spec.role == Role::Out {
                tensor.poison();
            } else {
                let fill = case.fills.iter().rev().find(|(name, _)| *name == spec.name);
                let fill = fill.map_or_else(|| suite.fill(spec.name), |&(_, fill)| fill);
                let origin = fill_tensor(&mut tensor, spec.name, fill, &generator)?;
                let argument = spec.name.to_owned();
                origins.extend(origin.map(|origin| InputOrigin { argument, origin }));
            }
            before.push(Some(tensor));
        }
        let mut fixture =
            Fixture { case: case.clone(), specs, homes, before, wanted: Vec::new(), origins, again: None };
        fixture.wanted = fixture.reference(suite)?;
        Ok(fixture)
    }

    /// Computes the reference from the images, of all rows or of the sampled ones.
    fn reference<S: Suite<Op = O>>(&self, suite: &S) -> Result<Vec<Wanted>, CaseError> {
        let sampled = sample(&self.case);
        let numbers =
            self.specs.tensors().enumerate().map(|(index, spec)| self.numbers(index, spec, sampled.as_deref()));
        let mut arguments = Arguments::new::<O>(numbers.collect(), self.scalars()?);
        let outputs = || self.specs.tensors().enumerate().filter(|(_, s)| s.present && s.role.writes());
        let tolerances: Vec<Tolerance> =
            outputs().map(|(_, spec)| suite.tolerance(&self.case, spec.name, spec.dtype, &arguments)).collect();
        O::reference(&self.case.problem, &mut arguments)?;
        let wanted = |((index, spec), tolerance): ((usize, &TensorSpec), Tolerance)| {
            let numbers = arguments.take(spec.name)?.data;
            let values = match codec::format(spec.dtype) {
                Some(_) => Values::Floats(numbers),
                None => Values::Integers(numbers.iter().map(|&v| v as i128).collect()),
            };
            let mut expected = Expected::whole(spec.name, values);
            expected.poisoned = spec.role == Role::Out && self.homes[index] == index;
            expected.rows = sampled.as_ref().map(|tokens| self.rows_of(index, tokens));
            Ok(Wanted { index, expected, tolerance })
        };
        outputs().zip(tolerances).map(wanted).collect()
    }

    /// The numbers of one tensor; zeros for a fresh output.
    fn numbers(&self, index: usize, spec: &TensorSpec, sampled: Option<&[usize]>) -> Option<Numbers> {
        let tensor = self.before[self.homes[index]].as_ref().filter(|_| spec.present)?;
        let mut shape = tensor.layout().shape.clone();
        let rows: Vec<usize> = match sampled.filter(|_| spec.dims.first().is_some_and(|d| d.size.dynamic.is_some())) {
            Some(tokens) => {
                shape[0] = tokens.len();
                self.rows_of(index, tokens)
            }
            None => (0..tensor.layout().rows()).collect(),
        };
        if spec.role == Role::Out {
            return Some(Numbers::zeros(spec.dtype, &shape));
        }
        let mut data = Vec::with_capacity(shape.iter().product());
        let mut row = Vec::new();
        for index in rows {
            tensor.read_row(index, &mut row);
            data.extend(row.iter().map(|&bits| codec::decode(spec.dtype, bits)));
        }
        Some(Numbers::new(spec.dtype, &shape, data))
    }

    /// The rows of the tensor at `index` that belong to these tokens.
    fn rows_of(&self, index: usize, tokens: &[usize]) -> Vec<usize> {
        self.before[self.homes[index]].as_ref().map_or_else(Vec::new, |tensor| rows_of(tensor.layout(), tokens))
    }

    /// The scalars as the operator's argument struct holds them: rounded to their Rust types.
    fn scalars(&self) -> Result<Vec<f64>, CaseError> {
        let mut nowhere = Nowhere { fixture: self };
        let args = O::assemble(&self.specs, &mut nowhere).map_err(crate::host::HostError::from)?;
        let mut scalars = Scalars(Vec::new());
        O::visit(&args, &mut scalars);
        Ok(scalars.0)
    }

    /// A fixture of some of the tokens, in the order given: their images, and no expectation. `None` where an argument has a
    /// dynamic dimension that is not the first.
    pub(super) fn of_tokens(&self, tokens: &[usize]) -> Result<Option<Fixture<O>>, CaseError> {
        let outer_alone = |spec: &TensorSpec| spec.dims.iter().skip(1).all(|d| d.size.dynamic.is_none());
        let lone = O::signature().dims.len() == 1 && self.specs.tensors().filter(|s| s.present).all(outer_alone);
        if !lone {
            return Ok(None);
        }
        let mut case = self.case.clone();
        case.dims = vec![tokens.len()];
        let mut before = Vec::new();
        for (index, spec) in self.specs.tensors().enumerate() {
            let Some(whole) = &self.before[index] else {
                before.push(None);
                continue;
            };
            let layout = case.layout(&self.specs, index);
            let mut part = HostTensor::zeros(layout.unwrap_or_else(|| whole.layout().clone()))?;
            let dynamic = spec.dims.first().is_some_and(|d| d.size.dynamic.is_some());
            let rows: Vec<usize> =
                if dynamic { self.rows_of(index, tokens) } else { (0..whole.layout().rows()).collect() };
            let mut row = Vec::new();
            for (to, from) in rows.into_iter().enumerate() {
                whole.read_row(from, &mut row);
                part.write_row(to, &row);
            }
            before.push(Some(part));
        }
        let (specs, homes) = (self.specs.clone(), self.homes.clone());
        let (wanted, origins, again) = (Vec::new(), Vec::new(), None);
        Ok(Some(Fixture { case, specs, homes, before, wanted, origins, again }))
    }
}

/// Which tensor's memory each tensor uses.
fn homes<O: Operator>(case: &Case<O>, specs: &ArgSpecs) -> Vec<usize> {
    let home = |(index, spec): (usize, &TensorSpec)| {
        case.home_of(spec.name).and_then(|input| O::signature().tensor(input)).unwrap_or(index)
    };
    specs.tensors().enumerate().map(home).collect()
}

fn fill_tensor(
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
        Fill::Constant(value) => tensor.fill_rows(|_, row| row.fill(codec::encode(dtype, value))),
        Fill::Function(value) => tensor.fill_rows(|index, row| {
            row.iter_mut().enumerate().for_each(|(column, bits)| *bits = codec::encode(dtype, value(index, column)));
        }),
    }
    Ok(None)
}

/// The rows that belong to these tokens: one for each in a matrix, several where a token has heads.
fn rows_of(layout: &Layout, tokens: &[usize]) -> Vec<usize> {
    let each = layout.rows() / layout.shape.first().copied().unwrap_or(1).max(1);
    tokens.iter().flat_map(|&token| token * each..(token + 1) * each).collect()
}

/// The tokens that a case samples, if it does.
fn sample<O: Operator>(case: &Case<O>) -> Option<Vec<usize>> {
    let tokens = case.dims.first().copied().unwrap_or(1);
    case.sampled_rows.filter(|&most| most < tokens).map(|most| spread(tokens, most))
}

/// Up to `most` of `tokens`: both ends, the neighbours of every point where a 32-bit element or byte offset of some width
/// could wrap (powers of two), and the rest evenly spread.
fn spread(tokens: usize, most: usize) -> Vec<usize> {
    let mut picked = vec![0, tokens - 1];
    let mut power = tokens.next_power_of_two();
    while picked.len() + 2 < most / 2 && power > 1 {
        power /= 2;
        picked.extend([power - 1, power].into_iter().filter(|&t| t < tokens));
    }
    let rest = most.saturating_sub(picked.len()).max(1);
    picked.extend((0..rest).map(|i| i * tokens / rest));
    picked.sort_unstable();
    picked.dedup();
    picked
}

/// Supplies views of nothing: only the scalars are looked at.
struct Nowhere<'a, O: Reference> {
    fixture: &'a Fixture<O>,
}

impl<O: Reference> ArgSource for Nowhere<'_, O> {
    type Error = ViewError;

    fn tensor(&mut self, _: usize, spec: &TensorSpec) -> Result<RawTensor, ViewError> {
        RawTensor::contiguous(std::ptr::null_mut(), spec.dtype, DeviceId::CPU, &[])
    }

    fn scalar(&mut self, param: &ScalarParam) -> f64 {
        self.fixture.case.scalar_value(param)
    }
}

struct Scalars(Vec<f64>);

impl ArgVisitor for Scalars {
    fn tensor(&mut self, _: usize, _: Option<&RawTensor>) {}

    fn scalar(&mut self, _: usize, value: f64) {
        self.0.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_hold_both_ends_and_the_wrap_points() {
        let picked = spread(524_289, 64);
        for token in [0, 524_288, 524_287, 262_144, 262_143] {
            assert!(picked.contains(&token), "{token}");
        }
        assert!(picked.len() <= 64 && picked.windows(2).all(|w| w[0] < w[1]));
        assert!(picked.iter().filter(|&&t| t > 262_144 && t < 520_000).count() > 5, "the middle is sampled too");
        assert_eq!(spread(2, 1), [0, 1]);
    }
}
