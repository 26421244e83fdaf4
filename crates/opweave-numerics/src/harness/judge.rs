// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Judging what a call left behind: a function of images, which no device takes part in.

use opweave_contract::Role;
use opweave_reference::Reference;

use super::{CaseError, Fixture};
use crate::compare::{CompareError, Doubt, LeafResult, compare};
use crate::host::HostTensor;
use crate::report::{Finding, FindingKind};
use crate::verdict::Verdict;

/// What was found out about one case.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// What is wrong, the first cause first.
    pub findings: Vec<Finding>,
    /// One entry for each output that was compared.
    pub leaves: Vec<LeafResult>,
}

impl Judgement {
    pub(super) fn find(&mut self, kind: FindingKind, text: String) {
        self.findings.push(Finding { kind, text });
    }

    /// Adds what another part of the case found, with words that say which part.
    pub(super) fn absorb(&mut self, other: Judgement, part: &str) {
        self.findings
            .extend(other.findings.into_iter().map(|f| Finding { kind: f.kind, text: format!("{part}: {}", f.text) }));
        self.leaves.extend(other.leaves.into_iter().map(|mut leaf| {
            leaf.name = format!("{} ({part})", leaf.name);
            leaf
        }));
    }
}

/// The verdict on a judgement; `constant` is the reason why equal expected values are no ground for mistrust.
pub fn verdict(judgement: &Judgement, constant: Option<&str>) -> Verdict {
    // A fault or a refused structure explains why nothing was written; then it is a failure with a cause.
    let unexplained = judgement.findings.iter().all(|f| matches!(f.kind, FindingKind::Values | FindingKind::Graph));
    let doubt = |leaf: &LeafResult| Some((leaf.name.clone(), leaf.doubt.clone()?));
    for (name, doubt) in judgement.leaves.iter().filter_map(doubt) {
        let reason = match doubt {
            Doubt::NothingWritten if unexplained => format!("nothing was written to `{name}`"),
            Doubt::NothingWritten => continue,
            _ if !judgement.findings.is_empty() || constant.is_some() => continue,
            Doubt::ExpectedZero => format!("all expected values of `{name}` are zero"),
            Doubt::ExpectedConstant => format!("all expected values of `{name}` are equal"),
        };
        return Verdict::Mistrusted { reason };
    }
    if judgement.findings.is_empty() { Verdict::Passed } else { Verdict::Failed }
}

impl<O: Reference> Fixture<O> {
    /// Judges the images after a call, in signature order: guard bands, inputs that may not change, values.
    ///
    /// # Errors
    /// [`CaseError::Compare`] when the images are not those of this case.
    pub fn judge(&self, after: &[Option<HostTensor>]) -> Result<Judgement, CaseError> {
        let mut judgement = Judgement::default();
        for (index, spec) in self.specs.tensors().enumerate() {
            let (Some(Some(image)), Some(before)) = (after.get(index), &self.before[index]) else { continue };
            if let Some(at) = image.broken_guard() {
                let text = format!("byte {at} from the start of `{}` was written; it belongs to no element", spec.name);
                judgement.find(FindingKind::Guard, text);
            }
            let written = self.specs.tensors().enumerate().any(|(i, s)| s.role.writes() && self.homes[i] == index);
            if spec.role == Role::In
                && !written
                && let Some(at) = before.first_difference(image)
            {
                let text = format!("input `{}` changed, first at byte {at} from its start", spec.name);
                judgement.find(FindingKind::Mutation, text);
            }
        }
        for wanted in &self.wanted {
            let name = &wanted.expected.name;
            let missing =
                || CompareError::Count { name: name.clone(), expected: wanted.expected.values.len(), actual: 0 };
            let image = after.get(self.homes[wanted.index]).and_then(Option::as_ref).ok_or_else(missing)?;
            let picked = wanted.picked.as_ref().map(|places| image.picked(places)).transpose()?;
            let leaf = compare(picked.as_ref().unwrap_or(image), &wanted.expected, &wanted.tolerance)?;
            for failure in &leaf.failures {
                judgement.find(FindingKind::Values, format!("`{name}`: {failure}"));
            }
            judgement.leaves.push(leaf);
        }
        Ok(judgement)
    }

    /// The arguments that the operator writes whose images differ in some bit, by name.
    pub(super) fn differing_outputs(
        &self,
        a: &[Option<HostTensor>],
        b: &[Option<HostTensor>],
    ) -> Vec<(&'static str, isize)> {
        let difference = |(index, spec): (usize, &opweave_contract::TensorSpec)| {
            let home = self.homes[index];
            let (Some(Some(a)), Some(Some(b))) = (a.get(home), b.get(home)) else { return None };
            if spec.role.writes() { a.first_difference(b).map(|at| (spec.name, at)) } else { None }
        };
        self.specs.tensors().enumerate().filter_map(difference).collect()
    }
}
