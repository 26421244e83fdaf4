// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The small types: size expressions, ranges, legal sets, relations.

use opweave_contract::{DimExpr, DynDims, FactValue, FactVisitor, Facts, Legal, MAX_DYNAMIC, Relation, ScalarRange};
use opweave_tensor::DType;
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_size_expression_is_the_arithmetic_that_it_was_written_as(
        value in 0_usize..1000, plus in 0_usize..1000, times in 0_usize..1000, more in 0_usize..1000, at in 0..MAX_DYNAMIC,
    ) {
        let mut values = [0; MAX_DYNAMIC];
        values[at] = value;
        let dims = DynDims::new(&values);
        let dim = DimExpr::dynamic(at as u8);
        prop_assert_eq!(((dim + plus) * times + more).resolve(&dims), (value + plus) * times + more);
        prop_assert_eq!((DimExpr::from(value) * times + more).resolve(&dims), value * times + more);
    }
}

#[test]
fn a_size_expression_saturates() {
    let dims = DynDims::new(&[usize::MAX]);
    assert_eq!(((DimExpr::dynamic(0) + usize::MAX) * usize::MAX + 1).resolve(&dims), usize::MAX);
}

#[test]
fn dimensions_that_do_not_exist_are_zero() {
    let dims = DynDims::new(&[7; 20]);
    assert_eq!(dims.as_slice(), [7; MAX_DYNAMIC]);
    assert_eq!((dims.get(MAX_DYNAMIC), DynDims::default().get(0)), (0, 0));
}

#[test]
fn ranges_of_scalars_admit_what_they_say_and_never_nan_or_infinity() {
    let (min, max) = (f64::MIN, f64::MAX);
    let closed = ScalarRange { min: 1.0, max: 7.0, above: false };
    let open = ScalarRange { min: 1.0, max: 7.0, above: true };
    let cases: &[(ScalarRange, &str, &[f64], &[f64])] = &[
        (ScalarRange::FINITE, "finite", &[min, 0.0, max], &[]),
        (ScalarRange::NON_NEGATIVE, "finite, >= 0", &[0.0, -0.0, max], &[-f64::MIN_POSITIVE, min]),
        (ScalarRange::POSITIVE, "finite, > 0", &[f64::MIN_POSITIVE, max], &[0.0, -0.0, -1.0]),
        (closed, ">= 1, <= 7", &[1.0, 7.0], &[0.999, 7.001]),
        (open, "> 1, <= 7", &[1.001, 7.0], &[1.0]),
        (ScalarRange { min, max: 2.0, above: false }, "finite, <= 2", &[min, 2.0], &[2.001]),
    ];
    for (range, text, legal, illegal) in cases {
        assert_eq!(range.text(), *text);
        assert!(legal.iter().all(|&v| range.admits(v)), "{text} {legal:?}");
        for value in illegal.iter().chain(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]) {
            assert!(!range.admits(*value), "{text} admits {value}");
        }
    }
}

#[test]
fn legal_sets_by_kind_of_value() {
    use FactValue::{DType as D, Flag, Int, None, Word};
    let cases: &[(Legal, FactValue, bool)] = &[
        (Legal::Any, Word("x"), true),
        (Legal::Range(2, 4), Int(2), true),
        (Legal::Range(2, 4), Int(4), true),
        (Legal::Range(2, 4), Int(5), false),
        (Legal::Range(2, 4), Int(1), false),
        (Legal::Range(2, 4), None, true),
        (Legal::Range(2, 4), D(DType::F32), false),
        (Legal::Ints(&[2, 8]), Int(8), true),
        (Legal::Ints(&[2, 8]), Int(4), false),
        (Legal::DTypes(&[DType::F32]), D(DType::F32), true),
        (Legal::DTypes(&[DType::F32]), D(DType::F16), false),
        (Legal::DTypes(&[DType::F32]), Flag(true), false),
    ];
    for (legal, value, expected) in cases {
        assert_eq!(legal.admits(*value), *expected, "{legal:?} {value}");
    }
    assert_eq!(Legal::Range(2, u64::MAX).text().unwrap(), "at least 2");
    assert_eq!(Legal::Any.text(), Option::None);
}

#[test]
fn relations_hold_where_a_fact_is_absent() {
    let facts = |a: FactValue, b: FactValue| {
        let mut facts = Facts::default();
        facts.fact("a", a);
        facts.fact("b", b);
        facts
    };
    use FactValue::{DType as D, Int, None};
    let divides = Relation::Divides("a", "b");
    let most = Relation::AtMost("a", "b");
    let same = Relation::SameOr("a", "b", &[DType::F32]);
    let exactly = Relation::SameOr("a", "b", &[]);
    let only = Relation::OnlyWith("a", "b", &[DType::I8, DType::U8]);
    let cases = [
        (divides, Int(8), Int(4), true),
        (divides, Int(9), Int(4), false),
        (divides, Int(0), Int(4), true),
        (divides, Int(8), Int(0), false),
        (divides, None, Int(4), true),
        (divides, Int(9), None, true),
        (most, Int(4), Int(4), true),
        (most, Int(5), Int(4), false),
        (most, Int(5), None, true),
        (same, D(DType::F16), D(DType::F16), true),
        (same, D(DType::F32), D(DType::F16), true),
        (same, D(DType::BF16), D(DType::F16), false),
        (same, None, D(DType::F16), true),
        (exactly, D(DType::F32), D(DType::F16), false),
        (exactly, Int(3), Int(3), true),
        (only, D(DType::I32), D(DType::U8), true),
        (only, D(DType::I8), D(DType::I32), false),
        (only, None, D(DType::F16), true),
    ];
    for (relation, a, b, expected) in cases {
        assert_eq!(relation.holds(&facts(a, b)), expected, "{relation} for {a} and {b}");
    }
    assert!(divides.holds(&Facts::default()));
    let shown: Vec<String> = [divides, most, same, exactly, only].iter().map(Relation::to_string).collect();
    assert_eq!(shown, ["a % b == 0", "a <= b", "a is b or f32", "a == b", "a only where b is i8, u8"]);
}
