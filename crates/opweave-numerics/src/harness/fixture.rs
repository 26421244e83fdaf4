// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What all implementations of a case share: inputs, and what the reference makes of them.

use std::sync::{Arc, OnceLock};

use opweave_contract::{ArgSource, ArgSpecs, ArgVisitor, Operator, Role, ScalarParam, TensorSpec};
use opweave_reference::{Arguments, FaultAt, Reference, Values as Numbers};
use opweave_tensor::{DeviceId, RawTensor, ViewError};

use super::CaseError;
use super::fill::fill_tensor;
use super::sample::{by_token, rows_of, sample};
use crate::codec;
use crate::compare::{Expected, Tolerance, Values};
use crate::host::{HostTensor, Layout};
use crate::input::Generator;
use crate::report::InputOrigin;
use crate::suite::{Case, CaseDefect, Fill, Suite};

/// One output, what it should be, and what it is held to.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Index in the signature.
    pub(super) index: usize,
    pub(super) expected: Expected,
    pub(super) tolerance: Tolerance,
    /// The elements that were sampled from an output of one dimension.
    pub(super) picked: Option<Vec<usize>>,
}

/// The seeds after a case's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seed {
    /// The next.
    Next = 0,
    /// The one after that.
    AfterNext = 1,
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
    /// The faults that the call raises.
    pub(super) faults: Vec<FaultAt>,
    pub(super) origins: Vec<InputOrigin>,
    again: Option<Again<O>>,
    drawn: [OnceLock<Arc<Fixture<O>>>; 2],
}

impl<O: Reference> std::fmt::Debug for Fixture<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "fixture of {} {}", O::NAME, self.case.label)
    }
}

/// What an output is held to, and the scores of what it selects.
type Held = (Tolerance, Option<Vec<f64>>);

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

    /// The same case under another seed, `more` steps on. Each is drawn once.
    pub(super) fn again(&self, more: Seed) -> Result<Option<Arc<Fixture<O>>>, CaseError> {
        let Some(again) = &self.again else { return Ok(None) };
        let drawn = &self.drawn[more as usize];
        if let Some(there) = drawn.get() {
            return Ok(Some(Arc::clone(there)));
        }
        let fresh = Arc::new(again(1 + more as u64)?);
        Ok(Some(Arc::clone(drawn.get_or_init(|| fresh))))
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
            let fill = case.fills.iter().rev().find(|(name, _)| *name == spec.name);
            let fill = fill.map_or_else(|| suite.fill(spec.name), |&(_, fill)| fill);
            // A vector is small enough to be drawn whole.
            let mut tensor = match sampled.as_ref().filter(|_| by_token(spec) && spec.dims.len() > 1) {
                Some(tokens) => HostTensor::sampled(layout.clone(), rows_of(&layout, tokens))?,
                None if case.repeated && repeats(spec, fill, &layout) => {
                    HostTensor::sampled(layout, (0..DRAWN_ROWS).collect())?
                }
                None => HostTensor::zeros(layout)?,
            };
            if spec.role == Role::Out {
                tensor.poison();
            } else {
                let origin = fill_tensor(&mut tensor, spec.name, fill, &generator)?;
                let argument = spec.name.to_owned();
                origins.extend(origin.map(|origin| InputOrigin { argument, origin }));
            }
            if case.repeated {
                tensor.repeat_rows();
            }
            before.push(Some(tensor));
        }
        let mut fixture = Fixture {
            case: case.clone(),
            specs,
            homes,
            before,
            wanted: Vec::new(),
            faults: Vec::new(),
            origins,
            again: None,
            drawn: Default::default(),
        };
        (fixture.wanted, fixture.faults) = fixture.reference(suite)?;
        fixture.check_faults()?;
        Ok(fixture)
    }

    /// Holds the faults that the reference found against those that the case states: what the case says is what a reader of
    /// the contract expects, and the reference is no judge of itself.
    fn check_faults(&self) -> Result<(), CaseDefect> {
        let position = |clause: &str| O::signature().faults.iter().position(|name| *name == clause);
        let stated = self.case.faults.iter().flat_map(|(clause, rows)| {
            let clause = position(clause).unwrap_or(usize::MAX) as u32;
            rows.iter().map(move |&row| FaultAt { clause, row })
        });
        let (mut stated, mut found): (Vec<FaultAt>, _) = (stated.collect(), self.faults.clone());
        stated.sort_unstable();
        found.sort_unstable();
        if stated == found {
            return Ok(());
        }
        let what = format!("it states the faults {stated:?}; the reference finds {found:?}");
        Err(CaseDefect { operation: O::NAME, label: self.case.label.clone(), what })
    }

    /// Computes the reference from the images, of all rows or of the sampled ones: outputs and faults.
    fn reference<S: Suite<Op = O>>(&self, suite: &S) -> Result<(Vec<Wanted>, Vec<FaultAt>), CaseError> {
        let sampled = sample(&self.case);
        let mut arguments = Arguments::new::<O>(self.seen(suite, sampled.as_deref()), self.scalars()?);
        let outputs = || self.specs.tensors().enumerate().filter(|(_, s)| s.present && s.role.writes());
        let held_to = |spec: &TensorSpec| {
            let tolerance = suite.tolerance(&self.case, spec.name, spec.dtype, &arguments);
            (tolerance, suite.scores(&self.case, spec.name, &arguments))
        };
        let held: Vec<Held> = outputs().map(|(_, spec)| held_to(spec)).collect();
        O::reference(&self.case.problem, &mut arguments)?;
        let token = |row: u64| sampled.as_ref().map_or(row, |tokens| tokens[row as usize] as u64);
        let faults = arguments.faults().iter().map(|fault| FaultAt { row: token(fault.row), ..*fault }).collect();
        let wanted = |((index, spec), (tolerance, scores)): ((usize, &TensorSpec), Held)| {
            let numbers = arguments.take(spec.name)?.data;
            let values = match codec::format(spec.dtype) {
                Some(_) => Values::Floats(numbers),
                None => Values::Integers(numbers.iter().map(|&v| v as i128).collect()),
            };
            let mut expected = Expected::whole(spec.name, values);
            expected.scores = scores;
            expected.poisoned = spec.role == Role::Out && self.homes[index] == index;
            let sampled = sampled.as_ref().filter(|_| by_token(spec));
            let picked = sampled.filter(|_| spec.dims.len() == 1).cloned();
            if picked.is_none() {
                expected.rows = sampled.map(|tokens| self.rows_of(index, tokens));
            }
            Ok(Wanted { index, expected, tolerance, picked })
        };
        Ok((outputs().zip(held).map(wanted).collect::<Result<_, CaseError>>()?, faults))
    }

    /// What the reference sees: all that belongs to the sampled tokens, and of a table that is looked up in a timed case what they name.
    fn seen<S: Suite<Op = O>>(&self, suite: &S, sampled: Option<&[usize]>) -> Vec<Option<Numbers>> {
        let numbers = |(index, spec): (usize, &TensorSpec)| match suite.looked_up().filter(|_| self.case.repeated) {
            Some((table, indices)) if table == spec.name => self.numbers_of(index, indices, sampled),
            _ => self.numbers(index, spec, sampled),
        };
        self.specs.tensors().enumerate().map(numbers).collect()
    }

    /// The numbers of one tensor; zeros for a fresh output.
    fn numbers(&self, index: usize, spec: &TensorSpec, sampled: Option<&[usize]>) -> Option<Numbers> {
        let tensor = self.before[self.homes[index]].as_ref().filter(|_| spec.present)?;
        let mut shape = tensor.layout().shape.clone();
        let sampled = sampled.filter(|_| by_token(spec));
        let picked = sampled.filter(|_| spec.dims.len() == 1);
        let rows: Vec<usize> = match sampled {
            Some(tokens) if picked.is_some() => {
                shape[0] = tokens.len();
                vec![0]
            }
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
            if let Some(tokens) = picked {
                row = tokens.iter().map(|&token| row[token]).collect();
            }
            codec::decode_row(spec.dtype, &row, &mut data);
        }
        Some(Numbers::new(spec.dtype, &shape, data))
    }

    /// The numbers of those rows of a table that `indices` names for the sampled tokens; zeros elsewhere, which cost no memory
    /// until they are looked at.
    fn numbers_of(&self, index: usize, indices: &str, sampled: Option<&[usize]>) -> Option<Numbers> {
        let tensor = self.before[self.homes[index]].as_ref()?;
        let (at, named) = self.specs.tensors().enumerate().find(|(_, spec)| spec.name == indices)?;
        let rows = self.numbers(at, named, sampled)?;
        let (layout, width) = (tensor.layout(), tensor.layout().width());
        let mut data = vec![0.0; layout.elements()];
        let (mut row, mut numbers) = (Vec::new(), Vec::with_capacity(width));
        for place in rows.data.iter().map(|&index| index as usize).filter(|&place| place < layout.rows()) {
            tensor.read_row(place, &mut row);
            numbers.clear();
            codec::decode_row(layout.dtype, &row, &mut numbers);
            data[place * width..][..width].copy_from_slice(&numbers);
        }
        Some(Numbers::new(layout.dtype, &layout.shape, data))
    }

    /// The rows of the tensor at `index` that belong to these tokens.
    fn rows_of(&self, index: usize, tokens: &[usize]) -> Vec<usize> {
        self.before[self.homes[index]].as_ref().map_or_else(Vec::new, |tensor| rows_of(tensor.layout(), tokens))
    }

    /// The scalars as the operator's argument struct holds them: rounded to their Rust types.
    pub(super) fn scalars(&self) -> Result<Vec<f64>, CaseError> {
        let mut nowhere = Nowhere { fixture: self };
        let args = O::assemble(&self.specs, &mut nowhere).map_err(crate::host::HostError::from)?;
        let mut scalars = Scalars(Vec::new());
        O::visit(&args, &mut scalars);
        Ok(scalars.0)
    }

    /// A fixture of some of the tokens, in the order given: their images and faults, and no expectation. `None` where an
    /// output's rows are not the tokens, or the tokens are more than a first dimension, or the ends of ranges of others.
    pub(super) fn of_tokens(&self, tokens: &[usize]) -> Result<Option<Fixture<O>>, CaseError> {
        let outer_alone = |spec: &TensorSpec| spec.dims.iter().skip(1).all(|d| d.size.dynamic != Some(0));
        // One element more than there are tokens: where each begins, and where the last one ends.
        let ends = |spec: &TensorSpec| by_token(spec) && spec.dims[0].size.add != 0;
        let lone = |spec: &TensorSpec| outer_alone(spec) && !ends(spec) && (by_token(spec) || !spec.role.writes());
        if !self.specs.tensors().filter(|s| s.present).all(lone) {
            return Ok(None);
        }
        let mut case = self.case.clone();
        case.dims[0] = tokens.len();
        let mut before = Vec::new();
        for (index, spec) in self.specs.tensors().enumerate() {
            let Some(whole) = &self.before[index] else {
                before.push(None);
                continue;
            };
            let layout = case.layout(&self.specs, index).unwrap_or_else(|| whole.layout().clone());
            let mut part = HostTensor::zeros(layout)?;
            let mut row = Vec::new();
            if by_token(spec) && spec.dims.len() == 1 {
                whole.read_row(0, &mut row);
                part.write_row(0, &tokens.iter().map(|&token| row[token]).collect::<Vec<u64>>());
                before.push(Some(part));
                continue;
            }
            let rows: Vec<usize> =
                if by_token(spec) { self.rows_of(index, tokens) } else { (0..whole.layout().rows()).collect() };
            for (to, from) in rows.into_iter().enumerate() {
                whole.read_row(from, &mut row);
                part.write_row(to, &row);
            }
            before.push(Some(part));
        }
        let place = |fault: &FaultAt| {
            let at = tokens.iter().position(|&token| token as u64 == fault.row)?;
            Some(FaultAt { row: at as u64, ..*fault })
        };
        let faults = self.faults.iter().filter_map(place).collect();
        let (specs, homes) = (self.specs.clone(), self.homes.clone());
        let (wanted, origins, again, drawn) = (Vec::new(), Vec::new(), None, Default::default());
        Ok(Some(Fixture { case, specs, homes, before, wanted, faults, origins, again, drawn }))
    }
}

/// Rows of a large weight, table or cache that are drawn for a case that is timed; the others repeat them. A prime, so that who takes
/// a tile for another finds other rows in it.
const DRAWN_ROWS: usize = 61;

/// Elements from which on rows are repeated: fewer are drawn in a moment.
const LARGE: usize = 1 << 18;

/// Whether rows of a tensor may repeat others: those of values may, those of places may not.
fn repeats(spec: &TensorSpec, fill: Fill, layout: &Layout) -> bool {
    let values = match fill {
        Fill::Draw(_) | Fill::Tame(_) => true,
        // Integers of eight bits are codes.
        Fill::Integers(..) => spec.dtype.bits() == 8,
        _ => false,
    };
    values && spec.role != Role::Out && layout.rows() > DRAWN_ROWS && layout.elements() >= LARGE
}

/// Which tensor's memory each tensor uses.
fn homes<O: Operator>(case: &Case<O>, specs: &ArgSpecs) -> Vec<usize> {
    let home = |(index, spec): (usize, &TensorSpec)| {
        case.home_of(spec.name).and_then(|input| O::signature().tensor(input)).unwrap_or(index)
    };
    specs.tensors().enumerate().map(home).collect()
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
mod tests;
