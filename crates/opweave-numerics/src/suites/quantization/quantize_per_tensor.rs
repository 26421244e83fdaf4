// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `quantize_per_tensor`.

use opweave_contract::ops::quantization::QuantizePerTensor;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, DTYPES, every_value, of};
use crate::compare::{Computation, Tolerance};
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments, ValueAt};

/// Every kind of codes with every flag that applies to it.
const FLAGS: &[(&str, &[&str])] = &[
    ("f8e4m3", &["output_dtype=f8e4m3"]),
    ("i8", &["output_dtype=i8"]),
    ("f8e5m2", &["output_dtype=f8e5m2"]),
    ("i8_zero_point", &["output_dtype=i8", "zero_point_dtype=i32"]),
    ("i8_127", &["output_dtype=i8", "i8_range=127"]),
    ("i8_127_zero_point", &["output_dtype=i8", "i8_range=127", "zero_point_dtype=i32"]),
];

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = QuantizePerTensor;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<QuantizePerTensor>> {
        common::cases(FLAGS, arguments, [every(), saturated(), ties(), refused(), odd_scales()].concat())
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<QuantizePerTensor>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        ["hidden_size=136", "dtype=bf16"].map(str::to_owned).to_vec()
    }

    fn fill(&self, argument: &str) -> Fill {
        match argument {
            // No power of two: quotients round. Normal values use some 30 codes of an i8.
            "scale" => Fill::Constant(0.037),
            "zero_point" => Fill::Constant(-11.0),
            _ => Fill::STANDARD,
        }
    }

    fn accumulation_length(&self, _: &Case<QuantizePerTensor>) -> usize {
        1
    }

    fn tolerance(&self, _: &Case<QuantizePerTensor>, _: &str, dtype: DType, _: &Arguments) -> Tolerance {
        Tolerance::of(Computation::Exact, dtype)
    }
}

/// Every 16-bit number under a scale that changes nothing and one that rounds.
fn every() -> Vec<Case<QuantizePerTensor>> {
    let mut cases = Vec::new();
    for dtype in ["f16", "bf16"] {
        for (word, facts) in FLAGS {
            for (name, scale) in [("one", 1.0), ("third", 1.0 / 3.0)] {
                let case = of(&format!("t256_h256_{dtype}_{word}_every_value_{name}"), dtype, facts, 256, 256);
                cases.extend(case.map(|c| c.fill("input", every_value(dtype)).fill("scale", Fill::Constant(scale))));
            }
        }
    }
    cases
}

/// Past the largest code on both sides; the second row just inside.
fn saturated() -> Vec<Case<QuantizePerTensor>> {
    let mut cases = Vec::new();
    for (word, facts) in FLAGS {
        let case = of(&format!("t2_h70_f32_{word}_saturated"), "f32", facts, 2, 70);
        let input = |row: usize, column: usize| {
            let sign = if column.is_multiple_of(2) { 1.0 } else { -1.0 };
            sign * if row == 0 { 1e30 } else { 120.0 + column as f64 }
        };
        let scaled = case.map(|c| c.fill("input", Fill::Function(input)).fill("scale", Fill::Constant(1.0)));
        cases.extend(scaled);
    }
    cases
}

/// Halves of integers and of the steps of 8-bit floats: all on ties.
fn ties() -> Vec<Case<QuantizePerTensor>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for (word, facts) in FLAGS {
            let case = of(&format!("t4_h256_{dtype}_{word}_ties"), dtype, facts, 4, 256);
            let input = |row: usize, column: usize| {
                let step = [0.5, 1.0 / 16.0, 1.0 / 1024.0, 1.0 / 131_072.0][row];
                (column as f64 - 128.0) * step
            };
            cases.extend(case.map(|c| c.fill("input", Fill::Function(input)).fill("scale", Fill::Constant(1.0))));
        }
    }
    cases
}

/// Scales and zero points that no quantizer gives: a fault, and the codes of NaN.
fn refused() -> Vec<Case<QuantizePerTensor>> {
    let mut cases = Vec::new();
    let scales = [("zero", 0.0), ("negative", -1.0), ("infinite", f64::INFINITY), ("nan", f64::NAN)];
    for (word, facts) in [FLAGS[0], FLAGS[1], FLAGS[2], FLAGS[3]] {
        for (name, scale) in scales {
            let case = of(&format!("t3_h70_bf16_{word}_scale_{name}"), "bf16", facts, 3, 70);
            let case = case.map(|c| c.fill("scale", Fill::Constant(scale)).constant("all codes are those of NaN"));
            cases.extend(case.map(|c| c.faults("scale not finite and positive", 0..3)));
        }
    }
    for (name, zero_point) in [("above", 128.0), ("below", -129.0)] {
        let case = of(&format!("t3_h70_bf16_zero_point_{name}"), "bf16", FLAGS[3].1, 3, 70);
        let case = case.map(|c| c.fill("zero_point", Fill::Constant(zero_point)).constant("all codes are 0"));
        cases.extend(case.map(|c| c.faults("zero point outside -128..=127", 0..3)));
    }
    cases
}

/// Scales at both ends of f32, where quotients overflow or a reciprocal would; zero points at both ends.
fn odd_scales() -> Vec<Case<QuantizePerTensor>> {
    let mut cases = Vec::new();
    let waves: [(&str, f64, ValueAt); 3] = [
        ("tiny", 1e-44, |row, column| 3e-43 * ((row * 70 + column) as f64 / 70.0 - 1.0)),
        ("small", 1e-38, |row, column| 4e-37 * ((row * 70 + column) as f64 / 70.0 - 1.0)),
        ("huge", 3e38, |row, column| 3e38 * ((row * 70 + column) as f64 / 105.0 - 1.0)),
    ];
    for (name, scale, wave) in waves {
        for (word, facts) in FLAGS {
            let case = of(&format!("t3_h70_f32_{word}_scale_{name}"), "f32", facts, 3, 70);
            cases.extend(case.map(|c| c.fill("input", Fill::Function(wave)).fill("scale", Fill::Constant(scale))));
        }
    }
    for zero_point in [-128_i32, 127] {
        let case = of(&format!("t3_h70_f16_zero_point_{zero_point}"), "f16", FLAGS[3].1, 3, 70);
        cases.extend(case.map(|c| c.fill("zero_point", Fill::Constant(f64::from(zero_point)))));
    }
    cases
}
