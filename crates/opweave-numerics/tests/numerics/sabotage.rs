// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The comparators, tested by sabotage: an honest result passes, and each kind of damage is caught, for every dtype and
//! every rule that a contract can bring.

use opweave_numerics::codec;
use opweave_numerics::compare::{
    Computation, Doubt, Expected, LeafResult, NanPolicy, Rule, Tolerance, Values, compare,
};
use opweave_numerics::host::{HostTensor, Layout};
use opweave_tensor::DType;

/// A reproducible value in about [-4, 4), without structure that a shift or a transposition could keep.
fn noise(i: usize, salt: u64) -> f64 {
    let mut z = (i as u64 + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31) as i64 as f64 / i64::MAX as f64 * 4.0
}

fn values(dtype: DType, count: usize, salt: u64) -> Values {
    let drawn = (0..count).map(|i| noise(i, salt));
    match codec::integer_range(dtype) {
        None if dtype == DType::F8E8M0 => Values::Floats(drawn.map(|v| (v * 8.0).round().exp2()).collect()),
        None => Values::Floats(drawn.collect()),
        Some((low, high)) => {
            let count = (high - low.max(0) + 1).min(251);
            Values::Integers(drawn.map(|v| ((v * 1e6) as i128).rem_euclid(count)).collect())
        }
    }
}

/// The output of an implementation that computes the reference and rounds it once.
fn honest(layout: Layout, values: &Values) -> HostTensor {
    let (dtype, width) = (layout.dtype, layout.width());
    let mut tensor = HostTensor::zeros(layout).unwrap();
    tensor.rewrite_rows(|row, bits| {
        for (column, bits) in bits.iter_mut().enumerate() {
            *bits = match values {
                Values::Floats(v) => codec::encode(dtype, v[row * width + column]),
                Values::Integers(v) => codec::encode_integer(dtype, v[row * width + column]),
            };
        }
    });
    tensor
}

fn dtypes() -> impl Iterator<Item = DType> {
    DType::ALL.iter().copied().filter(|&d| codec::supported(d))
}

/// Every rule that an output of the dtype may be held to.
fn tolerances(dtype: DType) -> Vec<Tolerance> {
    let wider = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let mut computations = vec![
        Computation::Rounded { roundings: 1, accumulation: wider, length: 4096 },
        Computation::Rounded { roundings: 2, accumulation: wider, length: 4096 },
        Computation::Reduction { accumulation: wider, length: 131_072 },
        Computation::Exact,
    ];
    // Scales that are powers of two are right or wrong.
    if !dtype.is_float() || dtype == DType::F8E8M0 {
        computations = vec![Computation::Exact];
    }
    computations.into_iter().map(|c| Tolerance::of(c, dtype)).collect()
}

fn check(actual: &HostTensor, expected: &Values, tolerance: &Tolerance) -> LeafResult {
    compare(actual, &Expected::whole("out", expected.clone()), tolerance).unwrap()
}

fn caught(result: &LeafResult) -> bool {
    !result.passed() || result.doubt.is_some()
}

#[test]
fn an_honest_result_passes_every_rule() {
    for dtype in dtypes() {
        for (rows, width) in [(64, 96), (1, 1), (7, 769), (3, 1), (0, 16), (1, 4096)] {
            let expected = values(dtype, rows * width, 1);
            let layout = Layout::contiguous(dtype, &[rows, width]).padded_rows(3).shifted(1);
            let actual = honest(layout, &expected);
            for tolerance in tolerances(dtype) {
                let result = check(&actual, &expected, &tolerance);
                assert!(result.passed(), "{dtype} {rows}x{width}: {:?}", result.failures);
                assert_eq!(result.exact_fraction, 1.0);
                assert!(result.worst.is_empty());
            }
        }
    }
}

#[test]
fn a_zeroed_tile_of_256_in_16_million_fails() {
    let size = 4096;
    for dtype in dtypes() {
        let expected = values(dtype, size * size, 3);
        let mut actual = honest(Layout::contiguous(dtype, &[size, size]), &expected);
        let mut row_bits = Vec::new();
        for row in 2048..2064 {
            actual.read_row(row, &mut row_bits);
            row_bits[1008..1024].fill(0);
            actual.write_row(row, &row_bits);
        }
        let expected = Expected::whole("out", expected);
        let mut tolerances = tolerances(dtype);
        if !matches!(dtype, DType::F32 | DType::BF16) {
            // The loosest alone: the other damages meet every rule.
            tolerances.retain(|t| !matches!(t.rule, Rule::Rounded { .. }));
        }
        for tolerance in tolerances {
            let result = compare(&actual, &expected, &tolerance).unwrap();
            assert!(!result.passed(), "{dtype} {:?}", tolerance.rule);
            assert!(result.failing > 100 && result.failing <= 256, "{dtype} {:?}: {}", tolerance.rule, result.failing);
            assert!(result.worst.iter().all(|e| (2048..2064).contains(&e.index[0]) && e.failing));
        }
    }
}

type Damage = fn(&mut HostTensor, &HostTensor);

fn set(tensor: &mut HostTensor, row: usize, column: usize, bits: u64) {
    let mut patterns = Vec::new();
    tensor.read_row(row, &mut patterns);
    patterns[column] = bits;
    tensor.write_row(row, &patterns);
}

fn not_a_number(tensor: &mut HostTensor, _: &HostTensor) {
    let nan = codec::format(tensor.dtype()).map_or(0xff, |f| f.canonical_nan());
    set(tensor, 17, 33, nan);
}

fn infinity(tensor: &mut HostTensor, _: &HostTensor) {
    let bits = match tensor.dtype().is_float() {
        true => codec::encode(tensor.dtype(), f64::INFINITY),
        // Integers have none; the top bit is what an overflow would flip.
        false => 1 << (tensor.dtype().bits() - 1) | 1,
    };
    set(tensor, 17, 33, bits);
}

fn zeroed_tile(tensor: &mut HostTensor, _: &HostTensor) {
    tensor.rewrite_rows(|row, bits| {
        if (16..32).contains(&row) {
            bits[32..48].fill(0);
        }
    });
}

fn transposed_tile(tensor: &mut HostTensor, source: &HostTensor) {
    let mut column_of = Vec::new();
    tensor.rewrite_rows(|row, bits| {
        if (16..32).contains(&row) {
            for (i, bits) in bits[32..48].iter_mut().enumerate() {
                source.read_row(16 + i, &mut column_of);
                *bits = column_of[32 + row - 16];
            }
        }
    });
}

fn off_by_one_row(tensor: &mut HostTensor, source: &HostTensor) {
    let mut next = Vec::new();
    tensor.rewrite_rows(|row, bits| {
        source.read_row((row + 1) % 64, &mut next);
        bits.copy_from_slice(&next);
    });
}

fn off_by_one_column(tensor: &mut HostTensor, _: &HostTensor) {
    tensor.rewrite_rows(|_, bits| bits.rotate_left(1));
}

fn stale(tensor: &mut HostTensor, _: &HostTensor) {
    let old = honest(tensor.layout().clone(), &values(tensor.dtype(), 64 * 96, 99));
    tensor.restore(old.image()).unwrap();
}

fn constant(tensor: &mut HostTensor, _: &HostTensor) {
    let one = codec::encode(tensor.dtype(), 1.0);
    tensor.rewrite_rows(|_, bits| bits.fill(one));
}

fn zeros(tensor: &mut HostTensor, _: &HostTensor) {
    tensor.rewrite_rows(|_, bits| bits.fill(0));
}

fn unwritten(tensor: &mut HostTensor, _: &HostTensor) {
    tensor.poison();
}

fn last_row_unwritten(tensor: &mut HostTensor, _: &HostTensor) {
    let poison = codec::mask(tensor.dtype(), codec::poison(tensor.dtype()));
    tensor.rewrite_rows(|row, bits| {
        if row == 63 {
            bits.fill(poison);
        }
    });
}

const DAMAGES: [(&str, Damage); 11] = [
    ("NaN", not_a_number),
    ("infinity", infinity),
    ("zeroed tile", zeroed_tile),
    ("transposed tile", transposed_tile),
    ("off-by-one row", off_by_one_row),
    ("off-by-one column", off_by_one_column),
    ("stale output", stale),
    ("constant", constant),
    ("zeros", zeros),
    ("unwritten", unwritten),
    ("unwritten row", last_row_unwritten),
];

#[test]
fn every_damage_is_caught_for_every_dtype_and_rule() {
    for dtype in dtypes() {
        let expected = values(dtype, 64 * 96, 1);
        let source = honest(Layout::contiguous(dtype, &[64, 96]), &expected);
        for (name, damage) in DAMAGES {
            let mut actual = source.duplicate().unwrap();
            damage(&mut actual, &source);
            assert!(actual.image() != source.image(), "{name} must change {dtype}");
            for tolerance in tolerances(dtype) {
                let result = check(&actual, &expected, &tolerance);
                assert!(!result.passed(), "{name} in {dtype} passes {:?}", tolerance.rule);
            }
        }
    }
}

#[test]
fn a_write_past_the_end_is_caught_for_every_dtype() {
    for dtype in dtypes() {
        let layout = Layout::contiguous(dtype, &[7, 769]);
        let size = dtype.bits() / 8;
        for padding in [0, 1, 7] {
            let layout = layout.clone().padded_rows(padding);
            let mut actual = honest(layout, &values(dtype, 7 * 769, 5));
            assert_eq!(actual.broken_guard(), None);
            let end = actual.origin() + ((6 * (769 + padding)) + 769) * size;
            // What a kernel without tail handling does: the row's last vector reaches over the end.
            let vector = [0x3f_u8; 16];
            actual.image_mut()[end..end + 16].copy_from_slice(&vector);
            assert_eq!(actual.broken_guard(), Some((end - actual.origin()) as isize), "{dtype} padding {padding}");
        }
    }
}

#[test]
fn a_degenerate_reference_is_doubted() {
    for dtype in dtypes() {
        let constant = |value: i128| match codec::integer_range(dtype) {
            None => Values::Floats(vec![value as f64; 96]),
            Some(_) => Values::Integers(vec![value; 96]),
        };
        for (value, doubt) in [(0, Doubt::ExpectedZero), (1, Doubt::ExpectedConstant)] {
            let expected = constant(value);
            let actual = honest(Layout::contiguous(dtype, &[2, 48]), &expected);
            let result = check(&actual, &expected, &tolerances(dtype)[0]);
            assert!(result.passed() && caught(&result));
            assert_eq!(result.doubt, Some(doubt), "{dtype}");
        }
        let expected = values(dtype, 96, 1);
        let mut actual = honest(Layout::contiguous(dtype, &[2, 48]), &expected);
        actual.poison();
        let result = check(&actual, &expected, &tolerances(dtype)[0]);
        assert_eq!(result.doubt, Some(Doubt::NothingWritten), "{dtype}");
    }
}

/// Moves elements by `ulps` numbers wherever `chosen` says.
fn nudged(source: &HostTensor, ulps: i64, chosen: impl Fn(usize) -> bool) -> HostTensor {
    let mut actual = source.duplicate().unwrap();
    let width = actual.layout().width();
    actual.rewrite_rows(|row, bits| {
        for (column, bits) in bits.iter_mut().enumerate() {
            if chosen(row * width + column) && *bits != 0 {
                *bits = bits.wrapping_add_signed(ulps);
            }
        }
    });
    actual
}

#[test]
fn one_rounding_allows_one_ulp_in_a_hundred_elements_and_no_more() {
    for dtype in [DType::F16, DType::BF16] {
        let expected = values(dtype, 64 * 96, 1);
        let source = honest(Layout::contiguous(dtype, &[64, 96]), &expected);
        let tolerance = &tolerances(dtype)[0];
        let passes = |actual: HostTensor| check(&actual, &expected, tolerance).passed();
        assert!(passes(nudged(&source, 1, |i| i % 101 == 0)), "{dtype}");
        assert!(!passes(nudged(&source, 1, |i| i % 98 == 0)), "{dtype}");
        assert!(!passes(nudged(&source, 2, |i| i == 977)), "{dtype}");
        // Two roundings allow two numbers, still in a hundredth.
        let tolerance = &tolerances(dtype)[1];
        let passes = |actual: HostTensor| check(&actual, &expected, tolerance).passed();
        assert!(passes(nudged(&source, 2, |i| i % 101 == 0)), "{dtype}");
        assert!(!passes(nudged(&source, 3, |i| i == 977)), "{dtype}");
    }
}

#[test]
fn a_hundredth_of_a_few_elements_is_one_of_them() {
    for dtype in [DType::F16, DType::BF16] {
        let format = codec::format(dtype).unwrap();
        // Each just below the middle of two numbers, where an accumulation in f32 may round the other way.
        let near_ties = |count| {
            let low = |i| format.encode(1.0 + noise(i, 1).abs());
            let between = |i| {
                let (low, high) = (format.decode(low(i)), format.decode(low(i) + 1));
                low + 0.499 * (high - low)
            };
            Values::Floats((0..count).map(between).collect())
        };
        for count in [1, 2, 3, 7, 99] {
            let expected = near_ties(count);
            let source = honest(Layout::contiguous(dtype, &[count]), &expected);
            let passes = |ulps, chosen: fn(usize) -> bool| {
                check(&nudged(&source, ulps, chosen), &expected, &tolerances(dtype)[0]).passed()
            };
            assert!(passes(1, |i| i == 0), "{dtype} {count}");
            assert!(!passes(2, |i| i == 0), "{dtype} {count}");
            assert!(count == 1 || !passes(1, |i| i < 2), "{dtype} {count}");
        }
    }
}

#[test]
fn the_largest_power_of_two_is_a_scale_as_any_other() {
    let layout = || Layout::contiguous(DType::F8E8M0, &[3]);
    let expected = Values::Floats(vec![2_f64.powi(127), 2_f64.powi(-127), f64::NAN]);
    let exact = Tolerance::of(Computation::Exact, DType::F8E8M0);
    let result = check(&honest(layout(), &expected), &expected, &exact);
    assert!(result.passed() && result.unwritten == 0, "{result:?}");
    // The same pattern where another number belongs was not written.
    let other = Values::Floats(vec![2_f64.powi(127), 1.0, f64::NAN]);
    let stale = Values::Floats(vec![2_f64.powi(127), 2_f64.powi(127), f64::NAN]);
    assert_eq!(check(&honest(layout(), &stale), &other, &exact).unwritten, 1);
}

#[test]
fn selected_indices_may_differ_among_ties_and_nowhere_else() {
    // Two rows of four candidates, of which two are selected; 1 and 3 of the first row are a tie.
    let scores = vec![0.5, 2.0, 1.0, 2.0 * (1.0 + 1e-7), 4.0, f64::NEG_INFINITY, 3.0, 2.0];
    let expected =
        Expected { scores: Some(scores.clone()), ..Expected::whole("indices", Values::Integers(vec![3, 1, 0, 2])) };
    let tolerance = Tolerance::of(Computation::Selected { relative: 1e-6 }, DType::I32);
    let result = |found: [i128; 4]| {
        let source = honest(Layout::contiguous(DType::I32, &[2, 2]), &Values::Integers(found.to_vec()));
        compare(&source, &expected, &tolerance).unwrap()
    };
    for good in [[3, 1, 0, 2], [1, 3, 0, 2]] {
        assert!(result(good).passed(), "{good:?}");
    }
    // Not a tie, taken twice, no candidate, below all that is finite.
    for (bad, failing) in
        [([3, 2, 0, 2], 1), ([1, 1, 0, 2], 1), ([3, 4, 0, 2], 1), ([3, -1, 2, 0], 3), ([3, 1, 0, 1], 1)]
    {
        assert_eq!(result(bad).failing, failing, "{bad:?}");
    }
    // Of a vector, each element is a row: what one row takes another may take too.
    let expected = Expected { scores: Some(scores), ..Expected::whole("indices", Values::Integers(vec![3, 0])) };
    let source = honest(Layout::contiguous(DType::I32, &[2]), &Values::Integers(vec![1, 0]));
    assert!(compare(&source, &expected, &tolerance).unwrap().passed());
    let without = Expected { scores: None, ..expected };
    let error = compare(&source, &without, &tolerance).unwrap_err().to_string();
    assert_eq!(error, "output `indices` holds indices for 2 rows; the suite gives 0 scores");
}

#[test]
fn truncation_instead_of_rounding_fails() {
    for dtype in [DType::F16, DType::BF16] {
        let format = codec::format(dtype).unwrap();
        let expected = values(dtype, 64 * 96, 1);
        let Values::Floats(numbers) = &expected else { unreachable!() };
        let mut actual = honest(Layout::contiguous(dtype, &[64, 96]), &expected);
        actual.rewrite_rows(|row, bits| {
            for (bits, &value) in bits.iter_mut().zip(&numbers[row * 96..]) {
                if format.decode(*bits).abs() > value.abs() {
                    *bits -= 1;
                }
            }
        });
        assert!(!check(&actual, &expected, &tolerances(dtype)[0]).passed(), "{dtype}");
    }
}

#[test]
fn a_wide_softmax_of_zeros_fails_where_an_absolute_constant_would_pass() {
    let width = 131_072;
    let raw: Vec<f64> = (0..width).map(|i| noise(i, 8).exp()).collect();
    let sum: f64 = raw.iter().sum();
    let shares: Vec<f64> = raw.iter().map(|v| v / sum).collect();
    let expected = Values::Floats(shares.clone());
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let mut actual = honest(Layout::contiguous(dtype, &[1, width]), &expected);
        let tolerance = Tolerance::of(Computation::Reduction { accumulation: DType::F32, length: width }, dtype);
        assert!(check(&actual, &expected, &tolerance).passed(), "{dtype}");
        actual.rewrite_rows(|_, bits| bits.fill(0));
        let result = check(&actual, &expected, &tolerance);
        // In f16 some shares are themselves no more than the smallest number, for which zero is one step off.
        let far = shares.iter().filter(|share| codec::encode(dtype, **share) > 1).count();
        assert!(far > width * 3 / 4, "{dtype}: {far}");
        assert_eq!(result.failing, far as u64, "{dtype}: every element fails for itself, not the norm for all");
    }
}

#[test]
fn equal_infinities_pass_and_nan_follows_the_policy() {
    for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16, DType::F8E5M2] {
        let expected = Values::Floats(vec![1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 2.0, 3.0]);
        let actual = honest(Layout::contiguous(dtype, &[2, 3]), &expected);
        for tolerance in tolerances(dtype) {
            let result = check(&actual, &expected, &tolerance);
            assert!(result.passed(), "{dtype}: {:?}", result.failures);
            assert_eq!((result.actual_non_finite.nan, result.expected_non_finite.positive_infinity), (1, 1));
            assert!(!check(&actual, &expected, &tolerance.with_nan(NanPolicy::Forbid)).passed());
        }
        // The wrong sign of an infinity, a finite number for one, and a NaN that was never written.
        for (column, bits) in [
            (1, codec::encode(dtype, f64::NEG_INFINITY)),
            (2, codec::encode(dtype, -1.0)),
            (2, codec::encode(dtype, f64::NAN)),
        ] {
            let mut wrong = actual.duplicate().unwrap();
            set(&mut wrong, 0, column, bits);
            for tolerance in tolerances(dtype) {
                assert!(!check(&wrong, &expected, &tolerance).passed(), "{dtype} column {column}");
            }
        }
        let mut wrong = actual.duplicate().unwrap();
        set(&mut wrong, 1, 0, codec::poison(dtype));
        assert!(!check(&wrong, &expected, &tolerances(dtype)[0]).passed(), "{dtype}: an unwritten NaN");
    }
}

#[test]
fn steps_and_sampled_rows_are_as_stated() {
    let expected = Values::Integers((0..64).map(|i| i % 7).collect());
    let source = honest(Layout::contiguous(DType::I8, &[4, 16]), &expected);
    let one_step = Tolerance::of(Computation::Steps(1), DType::I8);
    let off = nudged(&source, 1, |_| true);
    assert!(check(&off, &expected, &one_step).passed());
    assert!(!check(&nudged(&source, 2, |i| i == 40), &expected, &one_step).passed());
    assert!(!check(&off, &expected, &Tolerance::of(Computation::Exact, DType::I8)).passed());

    let whole = values(DType::F32, 100 * 8, 4);
    let Values::Floats(numbers) = &whole else { unreachable!() };
    let rows = vec![0, 57, 99];
    let sampled = rows.iter().flat_map(|r| numbers[r * 8..r * 8 + 8].to_vec()).collect();
    let mut actual = honest(Layout::contiguous(DType::F32, &[100, 8]), &whole);
    let expected = Expected { rows: Some(rows), ..Expected::whole("out", Values::Floats(sampled)) };
    let tolerance = &tolerances(DType::F32)[0];
    assert!(compare(&actual, &expected, tolerance).unwrap().passed());
    set(&mut actual, 57, 3, 0);
    let result = compare(&actual, &expected, tolerance).unwrap();
    assert_eq!((result.failing, result.worst[0].index.clone()), (1, vec![57, 3]));
    let outside = Expected { rows: Some(vec![0, 57, 100]), ..expected };
    assert!(compare(&actual, &outside, tolerance).is_err());
}

#[test]
fn the_worst_ten_are_the_worst_ten_in_order() {
    let expected = values(DType::F32, 64 * 96, 1);
    let Values::Floats(numbers) = &expected else { unreachable!() };
    let off: Vec<f64> = numbers.iter().enumerate().map(|(i, v)| if i % 100 == 0 { v + i as f64 } else { *v }).collect();
    let actual = honest(Layout::contiguous(DType::F32, &[64, 96]), &Values::Floats(off));
    let result = check(&actual, &expected, &tolerances(DType::F32)[0]);
    assert_eq!(result.failing, 61);
    let found: Vec<usize> = result.worst.iter().map(|e| e.index[0] * 96 + e.index[1]).collect();
    assert_eq!(found, (52..=61).rev().map(|i| i * 100).collect::<Vec<_>>());
    assert!((result.max_abs.0 - 6100.0).abs() < 1e-2);
}

#[test]
fn a_loosening_says_why_and_keeps_its_bound() {
    let base = Tolerance::of(Computation::Rounded { roundings: 1, accumulation: DType::F32, length: 64 }, DType::BF16);
    let loose = base.clone().loosened_by_condition(1000.0, DType::F32, "the mean cancels");
    assert_eq!(loose.loosened.as_deref(), Some("the mean cancels"));
    let Rule::Rounded { slack, .. } = loose.rule else { panic!("{loose:?}") };
    assert!((slack / (1000.0 * f64::from(f32::EPSILON)) - 1.0).abs() < 1e-12);
    // An element near zero that the cancellation moved by many ulps, and one moved too far.
    let mut numbers: Vec<f64> = (0..64).map(|i| noise(i, 2)).collect();
    numbers[5] = 1e-6;
    let expected = Values::Floats(numbers.clone());
    for (value, passes) in [(1e-5, true), (1e-2, false)] {
        numbers[5] = value;
        let actual = honest(Layout::contiguous(DType::BF16, &[1, 64]), &Values::Floats(numbers.clone()));
        assert_eq!(check(&actual, &expected, &loose).passed(), passes, "{value}");
        assert!(!check(&actual, &expected, &base).passed());
    }
}

#[test]
fn underflow_of_intermediate_values_is_allowed_for_and_nothing_above_it() {
    let computation = Computation::Rounded { roundings: 1, accumulation: DType::F32, length: 64 };
    let base = Tolerance::of(computation, DType::F32);
    let smallest = codec::format(DType::F32).unwrap().smallest();
    assert_eq!(base.underflow, 2.0 * smallest);
    let amplified = base.clone().amplified(1000.0);
    let mut numbers: Vec<f64> = (0..64).map(|i| noise(i, 2)).collect();
    numbers[5] = 5000.0 * smallest;
    let expected = Values::Floats(numbers.clone());
    for (off, tight, wide) in [(2.0, true, true), (3.0, false, true), (2000.0, false, true), (2001.0, false, false)] {
        numbers[5] = (5000.0 + off) * smallest;
        let actual = honest(Layout::contiguous(DType::F32, &[1, 64]), &Values::Floats(numbers.clone()));
        assert_eq!(check(&actual, &expected, &base).passed(), tight, "{off}");
        assert_eq!(check(&actual, &expected, &amplified).passed(), wide, "{off}");
    }
}
