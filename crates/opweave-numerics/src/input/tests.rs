// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use std::io::Write;

use super::*;
use crate::host::Layout;

const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];

fn draw(grade: Grade, seed: u64, argument: &str, dtype: DType, shape: &[usize]) -> Vec<f64> {
    let mut tensor = HostTensor::zeros(Layout::contiguous(dtype, shape)).unwrap();
    Generator::new(seed, grade, None).unwrap().fill(&mut tensor, argument, Spread::STANDARD).unwrap();
    assert_eq!(tensor.broken_guard(), None);
    tensor.values()
}

#[test]
fn streams_do_not_move_each_other_and_do_not_depend_on_layout() {
    let whole = draw(Grade::Normal, 5309, "input", DType::F32, &[8, 100]);
    assert_eq!(whole, draw(Grade::Normal, 5309, "input", DType::F32, &[8, 100]));
    assert_ne!(whole, draw(Grade::Normal, 5309, "weight", DType::F32, &[8, 100]));
    assert_ne!(whole, draw(Grade::Normal, 5310, "input", DType::F32, &[8, 100]));
    assert_eq!(whole[..400], draw(Grade::Normal, 5309, "input", DType::F32, &[4, 100]));
    let mut strided = HostTensor::zeros(Layout::contiguous(DType::F32, &[8, 100]).padded_rows(13).shifted(1)).unwrap();
    Generator::new(5309, Grade::Normal, None).unwrap().fill(&mut strided, "input", Spread::STANDARD).unwrap();
    assert_eq!(whole, strided.values());
}

#[test]
fn narrow_dtypes_hold_the_f32_values_rounded_once() {
    let exact = draw(Grade::Normal, 5309, "input", DType::F32, &[4096]);
    for dtype in [DType::F16, DType::BF16, DType::F64] {
        let format = codec::format(dtype).unwrap();
        let rounded: Vec<f64> = exact.iter().map(|&v| format.decode(format.encode(v))).collect();
        assert_eq!(rounded, draw(Grade::Normal, 5309, "input", dtype, &[4096]), "{dtype}");
    }
}

#[test]
fn the_first_draws_are_fixed_for_good() {
    // A change here is a change of every report's inputs: it needs a new ALGORITHM.
    let bits: Vec<u32> =
        draw(Grade::Normal, 5309, "input", DType::F32, &[5]).iter().map(|&v| (v as f32).to_bits()).collect();
    insta::assert_snapshot!(format!("{ALGORITHM} {bits:08x?}"));
}

#[test]
fn normal_and_uniform_have_their_moments() {
    let n = 200_000;
    let values = draw(Grade::Normal, 5309, "input", DType::F64, &[n]);
    let mean = |power: i32| values.iter().map(|v| v.powi(power)).sum::<f64>() / n as f64;
    // Five standard errors of each moment.
    for (power, expected, error) in [(1, 0.0, 1.0), (2, 1.0, 1.42), (3, 0.0, 3.9), (4, 3.0, 9.8)] {
        assert!((mean(power) - expected).abs() < 5.0 * error / (n as f64).sqrt(), "moment {power}: {}", mean(power));
    }
    assert!(values.iter().cloned().fold(0.0, f64::max) > 4.0);
    let values = draw(Grade::Uniform, 5309, "input", DType::F64, &[n]);
    assert!(values.iter().all(|v| (-1.0..1.0).contains(v)));
    let variance = values.iter().map(|v| v * v).sum::<f64>() / n as f64;
    assert!((variance - 1.0 / 3.0).abs() < 0.004);
    // Neighbours are independent.
    let product = values.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / n as f64;
    assert!(product.abs() < 5.0 / 3.0 / (n as f64).sqrt());
}

#[test]
fn exact_sums_are_exact_in_any_order() {
    let values = draw(Grade::Exact, 5309, "input", DType::BF16, &[100_000]);
    assert!(values.iter().all(|v| v.fract() == 0.0 && v.abs() <= 8.0));
    for wanted in -8..=8 {
        assert!(values.contains(&f64::from(wanted)), "{wanted} is never drawn");
    }
    let forward = values.iter().fold(0.0_f32, |sum, &v| sum + (v * v) as f32);
    let backward = values.iter().rev().fold(0.0_f32, |sum, &v| sum + (v * v) as f32);
    assert_eq!(forward, backward);
}

#[test]
fn wide_covers_the_exponents_of_each_dtype_and_stays_finite() {
    for dtype in FLOATS {
        let (low, high) = codec::format(dtype).unwrap().exponents();
        let values = draw(Grade::Wide, 5309, "input", dtype, &[20_000]);
        assert!(values.iter().all(|v| v.is_finite() && *v != 0.0));
        let exponents: Vec<i32> = values.iter().map(|v| v.abs().log2().floor() as i32).collect();
        let (least, most) = (exponents.iter().min().unwrap(), exponents.iter().max().unwrap());
        assert!(*least <= low.max(-126) + 1 && *most >= high.min(127) - 2, "{dtype}: {least} to {most}");
        assert!(values.iter().any(|v| *v < 0.0));
    }
}

#[test]
fn special_meets_every_kind_and_leaves_finite_rows() {
    for dtype in FLOATS {
        let width = 64;
        let values = draw(Grade::Special, 5309, "input", dtype, &[16, width]);
        let smallest_normal = 2.0_f64.powi(codec::format(dtype).unwrap().exponents().0.max(-126));
        assert!(values.iter().any(|v| v.is_nan()));
        assert!(values.contains(&f64::INFINITY) && values.contains(&f64::NEG_INFINITY));
        assert!(values.iter().any(|v| *v == 0.0 && v.is_sign_negative()));
        assert!(values.iter().any(|v| *v != 0.0 && v.abs() < smallest_normal), "{dtype} has no subnormal");
        assert!(values.chunks(width).filter(|row| row.iter().all(|v| v.is_finite())).count() >= 6);
    }
}

#[test]
fn integers_cover_their_range_and_nothing_else() {
    let generator = Generator::new(5309, Grade::Normal, None).unwrap();
    let mut tensor = HostTensor::zeros(Layout::contiguous(DType::I32, &[1000])).unwrap();
    generator.fill_integers(&mut tensor, "slots", -1, 5).unwrap();
    let mut seen: Vec<i64> = tensor.values().iter().map(|&v| v as i64).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [-1, 0, 1, 2, 3, 4, 5]);
    let mut bytes = HostTensor::zeros(Layout::contiguous(DType::U8, &[4])).unwrap();
    assert!(matches!(generator.fill_integers(&mut bytes, "codes", 0, 256), Err(InputError::Range { .. })));
    assert!(matches!(generator.fill_integers(&mut bytes, "codes", 3, 2), Err(InputError::Range { .. })));
    assert!(matches!(
        generator.fill(&mut bytes, "codes", Spread::STANDARD),
        Err(InputError::NotFloat { dtype: DType::U8, .. })
    ));
    let mut whole = HostTensor::zeros(Layout::contiguous(DType::I64, &[64])).unwrap();
    generator.fill_integers(&mut whole, "any", i64::MIN, i64::MAX).unwrap();
    assert!(whole.values().iter().any(|v| *v < 0.0) && whole.values().iter().any(|v| *v > 0.0));
}

/// A file with an embedding [50, 6], a norm weight [6], integers, and a matrix of another width.
fn file() -> tempfile::NamedTempFile {
    use safetensors::{Dtype, tensor::TensorView};
    let embedding: Vec<u8> =
        (0..300).flat_map(|i| half::bf16::from_f32(i as f32 / 2.0).to_bits().to_le_bytes()).collect();
    let weight: Vec<u8> = (0..6).flat_map(|i| (1.0 + i as f32).to_le_bytes()).collect();
    let ids = vec![7_u8; 6 * 8];
    let views = [
        ("embed", TensorView::new(Dtype::BF16, vec![50, 6], &embedding).unwrap()),
        ("norm", TensorView::new(Dtype::F32, vec![6], &weight).unwrap()),
        ("ids", TensorView::new(Dtype::I64, vec![6], &ids).unwrap()),
    ];
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&safetensors::serialize(views, None).unwrap()).unwrap();
    file
}

#[test]
fn real_rows_are_the_files_rows_matched_by_width() {
    let file = file();
    let source = Arc::new(RealSource::open(file.path()).unwrap());
    let generator = Generator::new(5309, Grade::Real, Some(source)).unwrap();
    let fill = |shape: &[usize]| {
        let mut tensor = HostTensor::zeros(Layout::contiguous(DType::F32, shape)).unwrap();
        let origin = generator.fill(&mut tensor, "input", Spread::STANDARD).unwrap().unwrap();
        (tensor.values(), origin)
    };
    let (values, origin) = fill(&[4, 6]);
    assert!(origin.starts_with("embed (bf16), 4 rows from row "), "{origin}");
    let first = values[0] as f32;
    assert_eq!((first * 2.0) as usize % 6, 0, "a row starts where a row of the table starts");
    let expected: Vec<f64> = (0..24).map(|i| f64::from(half::bf16::from_f32(first + i as f32 / 2.0))).collect();
    assert_eq!(values, expected);
    let (values, origin) = fill(&[6]);
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert!(origin.starts_with("norm (f32)"));
    // More rows than the table has: it goes round.
    let (values, _) = fill(&[120, 6]);
    assert_eq!(values[..300], values[300..600]);
    // No tensor of this width: the largest is cut.
    let (values, origin) = fill(&[3, 10]);
    assert!(origin.contains("cut into rows of 10"), "{origin}");
    assert!(values.windows(2).all(|w| (w[1] - w[0]).abs() <= 1.0));
}

#[test]
fn a_file_that_cannot_serve_is_a_typed_error() {
    assert!(matches!(Generator::new(5309, Grade::Real, None), Err(InputError::NoTensors)));
    let missing = RealSource::open(std::path::Path::new("no/such/file.safetensors"));
    assert!(matches!(missing, Err(RealError::Io { .. })));
    let write = |bytes: &[u8]| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        RealSource::open(file.path()).unwrap_err()
    };
    assert!(matches!(write(b"abc"), RealError::Format { .. }));
    assert!(matches!(write(&[0xff; 16]), RealError::Format { .. }));
    assert!(matches!(write(b"\x02\0\0\0\0\0\0\0{}"), RealError::Empty { .. }));
    assert!(matches!(write(b"\x02\0\0\0\0\0\0\0[]"), RealError::Format { .. }));
    let whole = std::fs::read(file().path()).unwrap();
    assert!(matches!(write(&whole[..whole.len() - 1]), RealError::Format { .. }), "truncated data");
    let text = r#"{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}"#;
    let mut integers = (text.len() as u64).to_le_bytes().to_vec();
    integers.extend(text.as_bytes());
    integers.extend([0; 8]);
    let error = write(&integers).to_string();
    assert!(error.contains("`a` I64"), "{error}");
}

#[test]
fn grade_names_round_trip() {
    for &grade in Grade::ALL {
        assert_eq!(grade.name().parse(), Ok(grade));
    }
    let error = "gauss".parse::<Grade>().unwrap_err().to_string();
    assert!(error.contains("`gauss`") && error.contains("normal"), "{error}");
}

fn integers(
    fill: impl Fn(&Generator, &mut HostTensor) -> Result<(), InputError>,
    seed: u64,
    shape: &[usize],
) -> Vec<i64> {
    let mut tensor = HostTensor::zeros(Layout::contiguous(DType::I64, shape)).unwrap();
    fill(&Generator::new(seed, Grade::Special, None).unwrap(), &mut tensor).unwrap();
    tensor.values().iter().map(|&v| v as i64).collect()
}

#[test]
fn distinct_integers_are_distinct_and_in_an_order_of_the_seed() {
    let fill = |g: &Generator, t: &mut HostTensor| g.fill_distinct(t, "slots", -3, 96);
    let whole = integers(fill, 1, &[100]);
    let mut sorted = whole.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (-3..=96).collect::<Vec<_>>());
    assert_ne!(whole, sorted);
    assert_ne!(whole, integers(fill, 2, &[100]));
    assert_eq!(integers(fill, 1, &[40]), whole[..40]);
    assert!(integers(fill, 1, &[0]).is_empty());
    let mut tensor = HostTensor::zeros(Layout::contiguous(DType::I32, &[5])).unwrap();
    let error = Generator::new(1, Grade::Normal, None).unwrap().fill_distinct(&mut tensor, "slots", 0, 3);
    assert!(matches!(error, Err(InputError::Range { .. })), "five values of four");
}

#[test]
fn placed_integers_stand_where_they_are_put_and_must_fit() {
    let fill = |g: &Generator, t: &mut HostTensor| {
        g.fill_integers(t, "ids", 0, 7)?;
        g.place(t, "ids", |at| (at % 3 == 2).then_some(1 << 40))
    };
    let values = integers(fill, 5309, &[2, 4]);
    for (at, &value) in values.iter().enumerate() {
        assert_eq!(value == 1 << 40, at % 3 == 2, "{values:?}");
        assert!(at % 3 == 2 || (0..8).contains(&value));
    }
    // What a dtype does not hold is refused rather than clamped: a clamped index would be another index.
    for (dtype, value) in [(DType::U32, -1), (DType::I32, 1 << 32)] {
        let mut tensor = HostTensor::zeros(Layout::contiguous(dtype, &[2])).unwrap();
        let error = Generator::new(1, Grade::Normal, None).unwrap().place(&mut tensor, "ids", |_| Some(value));
        assert!(matches!(error, Err(InputError::Range { .. })), "{dtype}");
    }
}
