// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One case of a suite.

use std::collections::BTreeMap;

use opweave_contract::{Cost, DynDims, Operator, ScalarParam};

use super::{Fill, Lie};
use crate::config::Tier;
use crate::host::Layout;
use crate::input::Grade;

/// One case: a problem and everything that decides the numbers of a call. Holds no memory.
#[derive(Debug)]
pub struct Case<O: Operator> {
    /// Says the dimensions; unique in its suite.
    pub label: String,
    /// The smallest tier that runs it.
    pub tier: Tier,
    /// The problem.
    pub problem: O::Problem,
    /// Dynamic dimensions, in signature order.
    pub dims: Vec<usize>,
    /// Scalars that differ from the signature's defaults.
    pub scalars: Vec<(&'static str, f64)>,
    /// The grade of its inputs, where it is not the run's.
    pub grade: Option<Grade>,
    /// Arguments that are not made of what the suite says.
    pub fills: Vec<(&'static str, Fill)>,
    /// How its tensors lie.
    pub lie: Lie,
    /// Arguments that lie in another way.
    pub lies: Vec<(&'static str, Lie)>,
    /// Outputs that share the memory of an input, as the contract allows.
    pub aliases: Vec<(&'static str, &'static str)>,
    /// Why its expected values may all be equal or zero; without a reason that makes a pass mistrusted.
    pub constant: Option<&'static str>,
    /// The most rows that are compared; more are sampled. For cases too large for a reference of all.
    pub sampled_rows: Option<usize>,
    /// Whether rows that are not sampled repeat those that are, rather than to stay zero.
    pub repeated: bool,
    /// The faults that the call raises, each with its rows. The reference finds the same, or the case is an error; an
    /// implementation must raise one of them, since the first to be written stays.
    pub faults: Vec<(&'static str, Vec<u64>)>,
}

impl<O: Operator> Clone for Case<O> {
    fn clone(&self) -> Self {
        Case {
            label: self.label.clone(),
            tier: self.tier,
            problem: self.problem,
            dims: self.dims.clone(),
            scalars: self.scalars.clone(),
            grade: self.grade,
            fills: self.fills.clone(),
            lie: self.lie,
            lies: self.lies.clone(),
            aliases: self.aliases.clone(),
            constant: self.constant,
            sampled_rows: self.sampled_rows,
            repeated: self.repeated,
            faults: self.faults.clone(),
        }
    }
}

/// A case that does not make sense: a mistake in its suite.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("case `{label}` of {operation}: {what}")]
pub struct CaseDefect {
    /// The operation.
    pub operation: &'static str,
    /// The case.
    pub label: String,
    /// What is wrong.
    pub what: String,
}

impl<O: Operator> Case<O> {
    /// A case of the default tier with ordinary inputs in contiguous, aligned tensors.
    pub fn new(label: impl Into<String>, problem: O::Problem, dims: &[usize]) -> Case<O> {
        Case {
            label: label.into(),
            tier: Tier::Default,
            problem,
            dims: dims.to_vec(),
            scalars: Vec::new(),
            grade: None,
            fills: Vec::new(),
            lie: Lie::default(),
            lies: Vec::new(),
            aliases: Vec::new(),
            constant: None,
            sampled_rows: None,
            repeated: false,
            faults: Vec::new(),
        }
    }

    /// The same case in another tier.
    #[must_use]
    pub fn tier(mut self, tier: Tier) -> Self {
        self.tier = tier;
        self
    }

    /// The same case with a scalar.
    #[must_use]
    pub fn scalar(mut self, name: &'static str, value: f64) -> Self {
        self.scalars.push((name, value));
        self
    }

    /// The same case with inputs of another grade.
    #[must_use]
    pub fn grade(mut self, grade: Grade) -> Self {
        self.grade = Some(grade);
        self
    }

    /// The same case with an argument made of something else.
    #[must_use]
    pub fn fill(mut self, argument: &'static str, fill: Fill) -> Self {
        self.fills.push((argument, fill));
        self
    }

    /// The same case with all tensors lying in another way.
    #[must_use]
    pub fn lie(mut self, row_gap: usize, shift: usize) -> Self {
        self.lie = Lie { row_gap, shift, ..self.lie };
        self
    }

    /// The same case with a gap after each entry of the second dimension, where it may be strided.
    #[must_use]
    pub fn inner_gap(mut self, gap: usize) -> Self {
        self.lie.inner_gap = gap;
        self
    }

    /// The same case with the two outer dimensions in the other order in memory, where both are free.
    #[must_use]
    pub fn swapped(mut self) -> Self {
        self.lie.swapped = true;
        self
    }

    /// The same case with a fault that it raises in these rows.
    #[must_use]
    pub fn faults(mut self, clause: &'static str, rows: impl IntoIterator<Item = u64>) -> Self {
        self.faults.push((clause, rows.into_iter().collect()));
        self
    }

    /// The same case with one tensor lying in another way.
    #[must_use]
    pub fn lie_of(mut self, argument: &'static str, row_gap: usize, shift: usize) -> Self {
        self.lies.push((argument, Lie { row_gap, shift, ..Lie::default() }));
        self
    }

    /// The same case with an output in the memory of an input.
    #[must_use]
    pub fn alias(mut self, output: &'static str, input: &'static str) -> Self {
        self.aliases.push((output, input));
        self
    }

    /// The same case with a reason why its expected values may all be equal.
    #[must_use]
    pub fn constant(mut self, reason: &'static str) -> Self {
        self.constant = Some(reason);
        self
    }

    /// The same case with at most `rows` rows compared.
    #[must_use]
    pub fn sampled(mut self, rows: usize) -> Self {
        self.sampled_rows = Some(rows);
        self
    }

    /// The same case judged by at most `tokens` of its tokens, which all others repeat. For cases that are timed: a reference of
    /// every token takes longer than the times, and values decide times, so that none may be left zero.
    #[must_use]
    pub fn judged_by(mut self, tokens: usize) -> Self {
        self.repeated = true;
        self.sampled(tokens)
    }

    /// `operation/label/seedN`.
    pub fn id(&self, seed: u64) -> String {
        format!("{}/{}/seed{seed}", O::NAME, self.label)
    }

    /// The dynamic dimensions.
    pub fn dyn_dims(&self) -> DynDims {
        DynDims::new(&self.dims)
    }

    /// What a call costs at least.
    pub fn cost(&self) -> Cost {
        O::cost(&self.problem, &self.dyn_dims())
    }

    /// The value of a scalar: what the case says, or the signature's default.
    pub fn scalar_value(&self, param: &ScalarParam) -> f64 {
        self.scalars.iter().rev().find(|(name, _)| *name == param.name).map_or(param.default, |&(_, value)| value)
    }

    /// How an argument lies.
    pub fn lie_for(&self, argument: &str) -> Lie {
        self.lies.iter().rev().find(|(name, _)| *name == argument).map_or(self.lie, |&(_, lie)| lie)
    }

    /// The input whose memory an output shares.
    pub fn home_of(&self, output: &str) -> Option<&'static str> {
        self.aliases.iter().find(|(name, _)| *name == output).map(|&(_, input)| input)
    }

    /// Where the tensor at `index` of the signature lies; `None` when the problem leaves it out.
    pub fn layout(&self, specs: &opweave_contract::ArgSpecs, index: usize) -> Option<Layout> {
        let spec = specs.tensor(index).filter(|spec| spec.present)?;
        let lie = self.lie_for(spec.name);
        let layout = Layout::contiguous(spec.dtype, &spec.shape(&self.dyn_dims())).shifted(lie.shift);
        let free = |axis: usize| spec.dims.len() > axis + 1 && spec.dims[axis].strided && !spec.promise.contiguous;
        let layout = if free(1) { layout.padded(1, lie.inner_gap) } else { layout };
        let swapped = lie.swapped && free(0) && free(1) && spec.dims[1].free;
        let layout = if swapped { layout.swapped() } else { layout };
        Some(if free(0) && !swapped { layout.padded(0, lie.row_gap) } else { layout })
    }

    /// Everything that decides the numbers, by name: facts, dimensions, scalars, layout, grade.
    pub fn parameters(&self) -> BTreeMap<String, String> {
        let signature = O::signature();
        let mut out: BTreeMap<String, String> =
            O::all_facts(&self.problem).iter().map(|(name, value)| (name.to_owned(), value.to_string())).collect();
        let dims = signature.dims.iter().zip(&self.dims);
        out.extend(dims.map(|(param, size)| (param.name.to_owned(), size.to_string())));
        let scalars = signature.scalars.iter();
        out.extend(scalars.map(|param| (param.name.to_owned(), format!("{:e}", self.scalar_value(param)))));
        let mut lie = |name: &str, lie: Lie| {
            if lie.row_gap != 0 {
                out.insert(format!("{name}row_gap"), lie.row_gap.to_string());
            }
            if lie.shift != 0 {
                out.insert(format!("{name}shift"), lie.shift.to_string());
            }
            if lie.inner_gap != 0 {
                out.insert(format!("{name}inner_gap"), lie.inner_gap.to_string());
            }
            if lie.swapped {
                out.insert(format!("{name}swapped"), "true".to_owned());
            }
        };
        lie("", self.lie);
        self.lies.iter().for_each(|(name, other)| lie(&format!("{name}."), *other));
        out.extend(self.aliases.iter().map(|(output, input)| (format!("{output}.alias"), (*input).to_owned())));
        out.extend(self.faults.iter().map(|(clause, rows)| (format!("fault: {clause}"), format!("rows {rows:?}"))));
        if let Some(reason) = self.constant {
            out.insert("constant".to_owned(), reason.to_owned());
        }
        if let Some(grade) = self.grade {
            out.insert("grade".to_owned(), grade.name().to_owned());
        }
        out
    }

    /// Checks the case against its operator: names, counts, problem.
    ///
    /// # Errors
    /// [`CaseDefect`].
    pub fn check(&self) -> Result<(), CaseDefect> {
        let signature = O::signature();
        let defect = |what: String| Err(CaseDefect { operation: O::NAME, label: self.label.clone(), what });
        if self.dims.len() != signature.dims.len() {
            return defect(format!("{} dimensions given, the signature has {}", self.dims.len(), signature.dims.len()));
        }
        if let Err(error) = O::validate(&self.problem) {
            return defect(error.to_string());
        }
        let aliased = self.aliases.iter().flat_map(|&(output, input)| [output, input]);
        let named = self.fills.iter().map(|&(name, _)| name).chain(self.lies.iter().map(|&(name, _)| name));
        if let Some(name) = named.chain(aliased).find(|name| signature.tensor(name).is_none()) {
            return defect(format!("`{name}` is no tensor of the signature"));
        }
        if let Some((name, _)) = self.scalars.iter().find(|(n, _)| !signature.scalars.iter().any(|s| s.name == *n)) {
            return defect(format!("`{name}` is no scalar of the signature"));
        }
        if let Some((clause, _)) = self.faults.iter().find(|(clause, _)| !signature.faults.contains(clause)) {
            return defect(format!("`{clause}` is no fault of the signature"));
        }
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '.';
        if self.label.is_empty() || !self.label.chars().all(word) {
            return defect("a label is made of letters, digits, `_`, `-` and `.`".to_owned());
        }
        Ok(())
    }
}
