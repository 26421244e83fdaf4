// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Judging what a call left behind: a function of images, which no device takes part in.

use opweave_contract::Role;
use opweave_reference::Reference;

use super::{CaseError, Fixture};
use crate::codec;
use crate::compare::{CompareError, Doubt, Expected, LeafResult, compare};
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

/// Elements of a whole output that nobody wrote, beyond those of the rows that were sampled. Only a float of two bytes or more
/// has a poison that is no right answer.
fn unwritten_beside(image: &HostTensor, expected: &Expected, sampled: u64) -> u64 {
    let told = image.dtype().bits() >= 16 && codec::format(image.dtype()).is_some();
    if !told || !expected.poisoned || expected.rows.is_none() || !image.is_whole() {
        return 0;
    }
    (image.count_poison() as u64).saturating_sub(sampled)
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
            let beside = unwritten_beside(image, &wanted.expected, leaf.unwritten);
            if beside > 0 {
                let text = format!("`{name}`: {beside} elements of rows that were not sampled were never written");
                judgement.find(FindingKind::Values, text);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use opweave_contract::Operator;
    use opweave_contract::ops::normalization::RmsNorm;

    use super::*;
    use crate::input::{Generator, Grade};
    use crate::suite::{Case, Suite, SuiteArguments};

    const TOKENS: usize = 40;

    struct Norms;

    impl Suite for Norms {
        type Op = RmsNorm;

        fn cases(&self, _: &SuiteArguments) -> Vec<Case<RmsNorm>> {
            Vec::new()
        }

        fn base(&self) -> Vec<String> {
            ["hidden_size=8", "dtype=f32"].map(str::to_owned).to_vec()
        }

        fn accumulation_length(&self, case: &Case<RmsNorm>) -> usize {
            case.problem.hidden_size
        }
    }

    /// A case that is judged by four of its tokens, and its images after a call that did what `rows` says.
    fn after(repeated: bool, rows: impl Fn(usize) -> bool) -> (Judgement, Vec<f64>) {
        let suite = Arc::new(Norms);
        let problem = RmsNorm::problem_from(&suite.base()).unwrap();
        let case = Case::new("t40_h8_f32", problem, &[TOKENS]);
        let case = if repeated { case.judged_by(4) } else { case.sampled(4) };
        let fixture = Fixture::build(&suite, &case, &Generator::new(0, Grade::Normal, None).unwrap()).unwrap();
        let picked = fixture.wanted[0].expected.rows.clone().unwrap();
        let crate::compare::Values::Floats(values) = &fixture.wanted[0].expected.values else { unreachable!() };
        let mut images: Vec<Option<HostTensor>> =
            fixture.before.iter().map(|image| image.as_ref().map(|image| image.duplicate().unwrap())).collect();
        let out = images[fixture.wanted[0].index].as_mut().unwrap();
        let format = codec::format(out.dtype()).unwrap();
        for row in (0..TOKENS).filter(|&row| rows(row)) {
            let place = picked.iter().position(|&at| at == row).unwrap_or(row % picked.len());
            let bits: Vec<u64> = values[place * 8..][..8].iter().map(|&v| format.encode(v)).collect();
            out.write_row(row, &bits);
        }
        let input = fixture.before[0].as_ref().unwrap().values();
        (fixture.judge(&images).unwrap(), input)
    }

    #[test]
    fn a_case_that_is_timed_has_no_row_of_zeros_and_is_judged_by_some() {
        let (judgement, input) = after(true, |_| true);
        assert_eq!(verdict(&judgement, None), Verdict::Passed, "{:?}", judgement.findings);
        // Both ends and one between them.
        assert_eq!(judgement.leaves[0].elements, 3 * 8);
        assert!(input.chunks(8).all(|row| row.iter().any(|&x| x != 0.0)));
        let distinct: std::collections::BTreeSet<u64> = input.iter().map(|x| x.to_bits()).collect();
        assert_eq!(distinct.len(), 3 * 8);
        // What is only sampled stays zero beside the samples, so that it costs nothing.
        let (judgement, input) = after(false, |_| true);
        assert_eq!(verdict(&judgement, None), Verdict::Passed);
        assert!(input.chunks(8).filter(|row| row.iter().all(|&x| x == 0.0)).count() == TOKENS - 3);
    }

    #[test]
    fn a_row_that_nobody_sampled_must_still_be_written() {
        let sampled = [0, TOKENS - 1];
        let (judgement, _) = after(true, |row| row != 17);
        assert_eq!(verdict(&judgement, None), Verdict::Failed);
        assert!(judgement.findings[0].text.contains("8 elements of rows that were not sampled"), "{judgement:?}");
        let (judgement, _) = after(true, |row| row != sampled[1]);
        assert_eq!(judgement.findings.iter().filter(|f| f.text.contains("not sampled")).count(), 0, "{judgement:?}");
        assert_eq!(verdict(&judgement, None), Verdict::Failed);
    }
}
