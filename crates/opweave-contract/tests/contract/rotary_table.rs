// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Tables of cosines and sines against values that another program computed with 40 digits: `golden/rotary_table.py`.

use half::bf16;
use opweave_contract::ops::rotary::{RotaryScaling, RotaryTable, RotaryTableError, Yarn, build_cos_sin_cache};

fn table(dim: usize, positions: usize, base: f64, kind: &str, parameters: &[(&str, f64)]) -> RotaryTable {
    let scaling = RotaryScaling::from_parameters(kind, parameters).unwrap();
    RotaryTable { scaling, ..RotaryTable::new(dim, positions, base) }
}

fn close(actual: f64, expected: f64, what: &str) {
    let bound = 1e-13 * expected.abs().max(f64::MIN_POSITIVE);
    assert!((actual - expected).abs() <= bound, "{what}: {actual:e}, not {expected:e}");
}

#[test]
fn tables_are_those_that_another_program_computes() {
    let mut kinds = std::collections::BTreeSet::new();
    let mut current = RotaryTable::new(2, 0, 10_000.0);
    for line in include_str!("golden/rotary_table.txt").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<f64>().unwrap();
        let (frequencies, factor) = (current.frequencies().unwrap(), current.attention_factor().unwrap());
        match words[0] {
            "table" => {
                let pairs = words[5].split(',').filter_map(|p| p.split_once('='));
                let parameters: Vec<(&str, f64)> = pairs.map(|(k, v)| (k, v.parse().unwrap())).collect();
                current = table(number(2) as usize, 1, number(3), words[4], &parameters);
                kinds.insert(words[4]);
            }
            "a" => close(factor, number(1), line),
            "f" => close(frequencies[number(1) as usize], number(2), line),
            _ => {
                let angle = number(1) * frequencies[number(2) as usize];
                // The angle is rounded at its size, some 1e5.
                let bound = 4e-15 * angle.max(1.0);
                assert!((angle.cos() * factor - number(3)).abs() <= bound, "{line} of {current:?}");
                assert!((angle.sin() * factor - number(4)).abs() <= bound, "{line} of {current:?}");
            }
        }
    }
    assert_eq!(kinds.len(), 6, "every scaling has golden values: {kinds:?}");
}

#[test]
fn a_row_is_the_cosines_and_then_the_sines_of_its_position() {
    let scaling = RotaryScaling::Yarn(Yarn::new(16.0, 4096));
    let table = RotaryTable { scaling, ..RotaryTable::new(8, 300, 10_000.0) };
    let (wide, narrow, half): (Vec<f64>, Vec<f32>, Vec<bf16>) = (
        build_cos_sin_cache(&table).unwrap(),
        build_cos_sin_cache(&table).unwrap(),
        build_cos_sin_cache(&table).unwrap(),
    );
    assert_eq!((wide.len(), narrow.len(), half.len()), (2400, 2400, 2400));
    let frequencies = table.frequencies().unwrap();
    for position in 0..300 {
        for (pair, frequency) in frequencies.iter().enumerate() {
            let angle = position as f64 * frequency;
            let (cosine, sine) = (position * 8 + pair, position * 8 + 4 + pair);
            close(wide[cosine], angle.cos() * 1.277_258_872_223_978_1, "cosine");
            assert!((wide[sine] - angle.sin() * 1.277_258_872_223_978_1).abs() < 1e-15);
        }
    }
    for (index, &value) in wide.iter().enumerate() {
        assert_eq!(narrow[index], value as f32);
        // The nearest bf16: both neighbours are further off, or as far and odd.
        let bits = half[index].to_bits();
        for other in [bits.wrapping_sub(1), bits + 1].map(bf16::from_bits) {
            // Next to zero stands NaN, which is nearer to nothing.
            let nearer = (other.to_f64() - value).abs() < (half[index].to_f64() - value).abs();
            assert!(!nearer, "{value}");
        }
    }
}

#[test]
fn llama3_keeps_blends_and_divides() {
    let parameters = [
        ("factor", 32.0),
        ("low_freq_factor", 1.0),
        ("high_freq_factor", 4.0),
        ("original_max_position_embeddings", 8192.0),
    ];
    let scaled = table(64, 1, 500_000.0, "llama3", &parameters).frequencies().unwrap();
    let plain = RotaryTable::new(64, 1, 500_000.0).frequencies().unwrap();
    assert_eq!(scaled[..15], plain[..15]);
    for (pair, expected) in [(15, 0.001_290_547_93), (16, 0.000_429_556_797), (17, 9.708_287_83e-5)] {
        assert!((scaled[pair] / expected - 1.0).abs() < 1e-8, "{pair}: {}", scaled[pair]);
    }
    for pair in 18..32 {
        assert_eq!(scaled[pair], plain[pair] / 32.0, "{pair}");
    }
}

#[test]
fn what_is_illegal_is_named_with_its_legal_set() {
    let build = |table: RotaryTable| build_cos_sin_cache::<f32>(&table).unwrap_err().to_string();
    let plain = RotaryTable::new(64, 8, 10_000.0);
    for dim in [0, 7] {
        assert!(build(RotaryTable { rotary_dim: dim, ..plain }).contains(&format!("rotary_dim is {dim}; legal are")));
    }
    for base in [1.0, 0.0, -5.0, f64::NAN, f64::INFINITY] {
        assert!(build(RotaryTable { base, ..plain }).contains("base is"), "{base}");
    }
    let with = |scaling| RotaryTable { scaling, ..plain };
    for factor in [0.5, 0.0, f64::NAN, f64::INFINITY] {
        assert!(build(with(RotaryScaling::Linear { factor })).contains("factor is"), "{factor}");
        assert!(build(with(RotaryScaling::Yarn(Yarn::new(factor, 4096)))).contains("factor is"), "{factor}");
    }
    assert!(build(RotaryTable { rotary_dim: 2, ..with(RotaryScaling::Ntk { factor: 2.0 }) }).contains("d / (d - 2)"));
    let yarn = Yarn::new(16.0, 4096);
    for (mscale, mscale_all_dim) in
        [(Some(1.0), None), (None, Some(1.0)), (Some(1.0), Some(0.0)), (Some(f64::NAN), Some(1.0))]
    {
        let text = build(with(RotaryScaling::Yarn(Yarn { mscale, mscale_all_dim, ..yarn })));
        assert!(text.contains("mscale") && text.contains("attention_factor"), "{text}");
        // What is given wins over what is in doubt.
        let given = Yarn { mscale, mscale_all_dim, attention_factor: Some(1.5), ..yarn };
        assert_eq!(with(RotaryScaling::Yarn(given)).attention_factor(), Ok(1.5));
    }
    assert!(
        build(with(RotaryScaling::Yarn(Yarn { beta_fast: 1.0, ..yarn })))
            .contains("beta_fast is 1; legal is finite, > 1")
    );
    assert!(
        build(with(RotaryScaling::Yarn(Yarn { original_max_position: 0, ..yarn }))).contains("original_max_position")
    );
    assert!(build(RotaryTable { max_position: usize::MAX, ..plain }).contains("do not fit"));
    assert!(build(RotaryTable { max_position: 1 << 55, ..plain }).contains("do not fit"));
    assert_eq!(build_cos_sin_cache::<f32>(&RotaryTable { max_position: 0, ..plain }), Ok(vec![]));
}

#[test]
fn an_unknown_scaling_or_parameter_is_an_error_and_never_plain() {
    let error = |kind: &str, parameters: &[(&str, f64)]| {
        RotaryScaling::from_parameters(kind, parameters).unwrap_err().to_string()
    };
    let text = error("yarm", &[]);
    assert!(
        text.contains("`yarm` is unknown") && text.contains("did you mean `yarn`?") && text.contains("llama3"),
        "{text}"
    );
    assert!(error("longrope", &[]).contains("known are plain, default, linear"));
    assert!(error("linear", &[]).contains("`linear` needs factor"));
    assert!(error("linear", &[("factor", 2.0), ("mscale", 1.0)]).contains("has no parameter `mscale`; it has factor"));
    assert!(error("plain", &[("factor", 2.0)]).contains("it has none"));
    assert!(error("dynamic", &[("factor", 2.0), ("original_max_position_embeddings", 2.5)]).contains("a whole number"));
    let yarn = [("factor", 2.0), ("original_max_position_embeddings", 4096.0)];
    assert!(error("yarn", &[yarn[0], yarn[1], ("truncate", 2.0)]).contains("truncate is 2; legal is 0 or 1"));
    for kind in ["plain", "default"] {
        assert_eq!(RotaryScaling::from_parameters(kind, &[]), Ok(RotaryScaling::Plain));
    }
    assert_eq!(RotaryScaling::from_parameters("yarn", &yarn), Ok(RotaryScaling::Yarn(Yarn::new(2.0, 4096))));
    assert!(matches!(RotaryTable::new(3, 1, 1e4).frequencies(), Err(RotaryTableError::RotaryDim(3))));
}
