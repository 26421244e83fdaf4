// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Comparison of integer, boolean and byte outputs.

use super::selection::Selection;
use super::{CompareError, Doubt, Expected, LeafResult, Rule, Tolerance, Worst, blank};
use crate::codec;
use crate::host::HostTensor;

pub(super) fn compare(
    actual: &HostTensor,
    expected: &Expected,
    values: &[i128],
    tolerance: &Tolerance,
) -> Result<LeafResult, CompareError> {
    let layout = actual.layout();
    let dtype = layout.dtype;
    let mut leaf = blank(&expected.name, layout, values.len(), tolerance);
    let steps = match tolerance.rule {
        Rule::Steps { steps } => u128::from(steps),
        _ => 0,
    };
    let selection = Selection::new(expected, tolerance, layout.shape.len(), layout.width(), values.len())?;
    let mut found: Vec<i128> = Vec::new();
    let (mut exact, mut max_abs, mut max_rel) = (0_u64, 0_u128, 0.0_f64);
    let mut poisoned = 0_u64;
    let poison = codec::mask(dtype, codec::poison(dtype));
    let mut worst = Worst::default();
    let mut patterns = Vec::new();
    for (n, wanted) in values.chunks(layout.width().max(1)).enumerate() {
        let row = expected.row(n);
        actual.read_row(row, &mut patterns);
        for (column, (&bits, &value)) in patterns.iter().zip(wanted).enumerate() {
            let got = codec::decode_integer(dtype, bits);
            let difference = got.abs_diff(value);
            let within = match &selection {
                None => difference <= steps,
                Some(selection) => {
                    let tie = selection.is_tie(found.len(), got, value, &found);
                    found.push(got);
                    tie
                }
            };
            poisoned += u64::from(expected.poisoned && bits == poison);
            exact += u64::from(difference == 0);
            leaf.failing += u64::from(!within);
            if difference > 0 || !within {
                max_abs = max_abs.max(difference);
                max_rel = max_rel.max(difference as f64 / value.unsigned_abs() as f64);
                worst.offer(!within, difference as f64, (row, column), bits, codec::encode_integer(dtype, value));
            }
        }
    }
    leaf.max_abs = (max_abs as f64).into();
    leaf.max_rel = max_rel.into();
    if leaf.elements > 0 {
        leaf.failing_fraction = leaf.failing as f64 / leaf.elements as f64;
        leaf.exact_fraction = exact as f64 / leaf.elements as f64;
    }
    let decode = |bits| codec::decode_integer(dtype, bits) as f64;
    leaf.worst = worst.into_elements(layout, |a, e| (decode(a), decode(e), None));
    // A byte may rightly equal the poison pattern, so single ones prove nothing; all of them, against an expectation that
    // is not all poison, do.
    let all_poison = poisoned == leaf.elements && leaf.failing > 0;
    if all_poison {
        leaf.unwritten = poisoned;
    }
    leaf.doubt = match values.first() {
        None => None,
        Some(_) if all_poison => Some(Doubt::NothingWritten),
        Some(_) if values.iter().all(|&v| v == 0) => Some(Doubt::ExpectedZero),
        Some(first) => (values.len() > 1 && values.iter().all(|v| v == first)).then_some(Doubt::ExpectedConstant),
    };
    Ok(leaf)
}
