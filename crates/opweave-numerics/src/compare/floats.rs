// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Comparison of float outputs.

use super::measure::{SquareSum, ulp_distance};
use super::{Doubt, Expected, Frobenius, LeafResult, NanPolicy, Rule, Tolerance, Worst, blank};
use crate::codec::{self, Format};
use crate::host::HostTensor;

/// Norms of one row or of all.
#[derive(Clone, Copy, Default)]
struct Norms {
    /// Of the error against the rounded reference.
    error: SquareSum,
    /// Of the rounded reference.
    expected: SquareSum,
    /// Of the error against the unrounded reference.
    total: SquareSum,
    /// Of the naive kernel's error against the unrounded reference.
    naive: SquareSum,
    /// Elements that count.
    count: usize,
}

impl Norms {
    fn merge(&mut self, row: &Norms) {
        self.error.merge(row.error);
        self.expected.merge(row.expected);
        self.total.merge(row.total);
        self.naive.merge(row.naive);
        self.count += row.count;
    }

    /// Error norm over reference norm. One smallest number per element is free, or what underflow explains: below it there
    /// is nothing to be right by.
    fn relative(&self, format: Format, underflow: f64) -> f64 {
        let error = self.error.root();
        if error <= format.smallest().max(underflow) * (self.count as f64).sqrt() {
            0.0
        } else {
            error / self.expected.root()
        }
    }
}

pub(super) fn compare(
    actual: &HostTensor,
    expected: &Expected,
    values: &[f64],
    format: Format,
    tolerance: &Tolerance,
) -> LeafResult {
    let layout = actual.layout();
    let width = layout.width();
    let poison = codec::mask(layout.dtype, codec::poison(layout.dtype));
    let mut leaf = blank(&expected.name, layout, values.len(), tolerance);
    let (mut exact, mut max_ulp) = (0_u64, 0_u64);
    let (mut max_abs, mut max_rel) = (0.0_f64, 0.0_f64);
    let (mut whole, mut worst) = (Norms::default(), Worst::default());
    let (mut worst_row, mut worst_row_index, mut failing_rows) = (0.0_f64, None, 0_usize);
    let naive_matters = tolerance.naive_factor.is_some();
    let (mut patterns, mut rounded) = (Vec::new(), Vec::new());
    for (n, wanted) in values.chunks(width.max(1)).enumerate() {
        let row = expected.row(n);
        actual.read_row(row, &mut patterns);
        rounded.clear();
        rounded.extend(wanted.iter().map(|&v| format.encode(v)));
        let mut norms = Norms::default();
        let mut level = SquareSum::default();
        let mut finite = 0;
        for value in rounded.iter().map(|&bits| format.decode(bits)).filter(|v| v.is_finite()) {
            level.add(value);
            finite += 1;
        }
        let level = level.root_mean(finite);
        for (column, ((&bits, &target), &unrounded)) in patterns.iter().zip(&rounded).zip(wanted).enumerate() {
            let (a, e) = (format.decode(bits), format.decode(target));
            leaf.actual_non_finite.count(a);
            leaf.expected_non_finite.count(e);
            // A format without a spare NaN has a number for poison, which may be the right answer.
            let unwritten = expected.poisoned && bits == poison && bits != target;
            leaf.unwritten += u64::from(unwritten);
            let both_finite = a.is_finite() && e.is_finite();
            let difference = (a - e).abs();
            let ulp = if both_finite { ulp_distance(format, bits, target) } else { u64::MAX };
            let same = a == e || (a.is_nan() && e.is_nan() && tolerance.nan == NanPolicy::Equal && !unwritten);
            let within = same
                || (both_finite
                    && (holds(tolerance.rule, difference, ulp, level, e) || difference <= tolerance.underflow));
            exact += u64::from(same);
            leaf.failing += u64::from(!within);
            if both_finite {
                norms.error.add(a - e);
                norms.expected.add(e);
                norms.count += 1;
                if naive_matters && unrounded.is_finite() {
                    norms.total.add(a - unrounded);
                    let naive = expected.naive.as_ref().map_or(e, |naive| naive[n * width + column]);
                    if naive.is_finite() {
                        norms.naive.add(naive - unrounded);
                    }
                }
            }
            if !same {
                let far = if both_finite { difference } else { f64::INFINITY };
                max_abs = max_abs.max(far);
                max_rel = max_rel.max(if both_finite { difference / e.abs() } else { f64::INFINITY });
                if both_finite {
                    max_ulp = max_ulp.max(ulp);
                }
                worst.offer(!within, far, (row, column), bits, target);
            }
        }
        let relative = norms.relative(format, tolerance.underflow);
        if relative > worst_row || worst_row_index.is_none() {
            (worst_row, worst_row_index) = (relative, Some(row));
        }
        let fits = tolerance.frobenius_row.is_none_or(|bound| relative <= bound);
        failing_rows += usize::from(!fits);
        whole.merge(&norms);
    }
    leaf.max_abs = max_abs.into();
    leaf.max_rel = max_rel.into();
    leaf.max_ulp = Some(max_ulp);
    if leaf.elements > 0 {
        leaf.failing_fraction = leaf.failing as f64 / leaf.elements as f64;
        leaf.exact_fraction = exact as f64 / leaf.elements as f64;
    }
    let against_naive = tolerance.naive_factor.map(|_| against_naive(&whole, format));
    let overall = whole.relative(format, tolerance.underflow);
    judge(&mut leaf, exact, overall, worst_row, failing_rows, against_naive);
    leaf.frobenius = Some(Frobenius {
        overall: overall.into(),
        worst_row: worst_row.into(),
        worst_row_index,
        against_naive: against_naive.map(Into::into),
    });
    leaf.worst = worst.into_elements(layout, |bits, target| {
        let (a, e) = (format.decode(bits), format.decode(target));
        (a, e, (a.is_finite() && e.is_finite()).then(|| ulp_distance(format, bits, target)))
    });
    leaf.doubt = doubt(&leaf, values, format);
    leaf
}

/// Whether a finite element obeys the rule. Every comparison is positive: NaN obeys none.
fn holds(rule: Rule, difference: f64, ulp: u64, level: f64, expected: f64) -> bool {
    match rule {
        Rule::Rounded { max_ulp, slack, .. } => ulp <= max_ulp || difference <= slack * level,
        Rule::Reduction { row, relative } => difference <= row * level + relative * expected.abs() || ulp <= 1,
        Rule::Exact | Rule::Selected { .. } => difference == 0.0,
        Rule::Steps { steps } => ulp <= steps.into(),
    }
}

/// The whole error over that of a naive kernel, which at the least rounds: a typical rounding error is a third of an
/// epsilon of each element, whatever the reference's own distance to the next number happens to be.
fn against_naive(whole: &Norms, format: Format) -> f64 {
    let floor = format.epsilon() / 3.0 * whole.expected.root() + format.smallest() * (whole.count as f64).sqrt();
    let naive = whole.naive.root().max(floor);
    if whole.total.root() == 0.0 { 0.0 } else { whole.total.root() / naive }
}

fn judge(
    leaf: &mut LeafResult,
    exact: u64,
    overall: f64,
    worst_row: f64,
    failing_rows: usize,
    against_naive: Option<f64>,
) {
    let tolerance = leaf.tolerance.clone();
    if leaf.unwritten > 0 {
        leaf.failures.push(format!("{} elements were never written", leaf.unwritten));
    }
    if tolerance.nan == NanPolicy::Forbid && leaf.actual_non_finite.nan > 0 {
        leaf.failures.push(format!("{} NaN where none may be", leaf.actual_non_finite.nan));
    }
    if let Rule::Rounded { exact_fraction, .. } = tolerance.rule {
        let inexact = leaf.elements - exact;
        // One element may differ in an output of any size: a hundredth of seven elements is none.
        let allowed = ((1.0 - exact_fraction) * leaf.elements as f64).max(1.0);
        let enough = inexact as f64 <= allowed;
        if !enough {
            let text = format!("{:.4} of the elements are exact, under {exact_fraction}", leaf.exact_fraction);
            leaf.failures.push(text);
        }
    }
    if failing_rows > 0
        && let Some(bound) = tolerance.frobenius_row
    {
        let text = format!("relative Frobenius error {worst_row:.3e} of a row ({failing_rows} rows), over {bound:.3e}");
        leaf.failures.push(text);
    }
    if let Some(bound) = tolerance.frobenius {
        let fits = overall <= bound;
        if !fits {
            leaf.failures.push(format!("relative Frobenius error {overall:.3e} over all, over {bound:.3e}"));
        }
    }
    if let (Some(factor), Some(ratio)) = (tolerance.naive_factor, against_naive) {
        let fits = ratio <= factor;
        if !fits {
            leaf.failures.push(format!("error {ratio:.2} times that of a naive kernel, over {factor}"));
        }
    }
}

fn doubt(leaf: &LeafResult, values: &[f64], format: Format) -> Option<Doubt> {
    if values.is_empty() {
        return None;
    }
    if leaf.unwritten == leaf.elements {
        return Some(Doubt::NothingWritten);
    }
    // One value is always equal to itself; that is no ground for doubt unless it is zero.
    let first = format.encode(values[0]);
    let constant = values.iter().all(|&v| format.encode(v) == first);
    if values.iter().all(|&v| v == 0.0) {
        Some(Doubt::ExpectedZero)
    } else {
        (constant && values.len() > 1).then_some(Doubt::ExpectedConstant)
    }
}
