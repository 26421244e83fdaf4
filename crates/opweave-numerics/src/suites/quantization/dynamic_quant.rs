// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `dynamic_quant`.

use opweave_contract::ops::quantization::DynamicQuant;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, DTYPES, GRADES, every_value, of};
use crate::compare::{Computation, Tolerance};
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments, ValueAt};

/// Every kind of codes with every flag that applies to it.
const FLAGS: &[(&str, &[&str])] = &[
    ("f8e4m3", &["output_dtype=f8e4m3"]),
    ("i8", &["output_dtype=i8"]),
    ("f8e5m2", &["output_dtype=f8e5m2"]),
    ("f8e4m3_power", &["output_dtype=f8e4m3", "scale_format=power_of_two"]),
    ("i8_128", &["output_dtype=i8", "i8_range=128"]),
    ("i8_power", &["output_dtype=i8", "scale_format=power_of_two"]),
    ("f8e5m2_power", &["output_dtype=f8e5m2", "scale_format=power_of_two"]),
    ("i8_128_power", &["output_dtype=i8", "i8_range=128", "scale_format=power_of_two"]),
];

/// The floor of vLLM's kernels: `1 / (448 * 512)`.
const FLOOR: f64 = 1.0 / (448.0 * 512.0);

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = DynamicQuant;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<DynamicQuant>> {
        common::cases(FLAGS, arguments, [every(), degenerate(), floors(), last_places()].concat())
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<DynamicQuant>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        ["hidden_size=136", "dtype=bf16"].map(str::to_owned).to_vec()
    }

    fn accumulation_length(&self, _: &Case<DynamicQuant>) -> usize {
        1
    }

    fn tolerance(&self, _: &Case<DynamicQuant>, _: &str, dtype: DType, _: &Arguments) -> Tolerance {
        Tolerance::of(Computation::Exact, dtype)
    }
}

/// Every 16-bit number, in rows of like magnitudes.
fn every() -> Vec<Case<DynamicQuant>> {
    let all = ["f16", "bf16"].into_iter().flat_map(|dtype| FLAGS.iter().map(move |flag| (dtype, flag)));
    all.filter_map(|(dtype, (word, facts))| {
        let case = of(&format!("t256_h256_{dtype}_{word}_every_value"), dtype, facts, 256, 256)?;
        Some(case.fill("input", every_value(dtype)))
    })
    .collect()
}

/// Rows whose scale is no ordinary number: zeros of both signs, one number below the normal range among zeros, a magnitude
/// so small that its scale would be zero, NaN, infinities, the largest numbers.
const DEGENERATE: ValueAt = |row, column| match (row, column) {
    (1, _) => -0.0,
    (2, 0) => 1e-30,
    (3, 0) => f64::NAN,
    (4, 2) => f64::INFINITY,
    (5, 3) => f64::NEG_INFINITY,
    (6, 1) => 6e-45,
    (6, 2) => -3e-45,
    (7, 1) => 8e-44,
    (7, 3) => -1.4e-45,
    (8, _) => [3.4e38, -3.4e38, 1.0, 1e-38][column % 4],
    (9, _) => 1.5,
    (3..=5, _) => column as f64,
    _ => 0.0,
};

fn degenerate() -> Vec<Case<DynamicQuant>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for (word, facts) in FLAGS {
            for width in [4, 67] {
                let case = of(&format!("t10_h{width}_{dtype}_{word}_degenerate"), dtype, facts, 10, width);
                cases.extend(case.map(|c| c.fill("input", Fill::Function(DEGENERATE))));
            }
        }
    }
    let case = of("t5_h64_bf16_zeros", "bf16", FLAGS[0].1, 5, 64);
    cases.extend(case.map(|c| c.fill("input", Fill::Constant(0.0)).constant("rows of zeros have scale 1")));
    cases
}

/// Floors above and below the scales of rows, rows of zeros and NaN among them.
fn floors() -> Vec<Case<DynamicQuant>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for (word, facts) in FLAGS {
            let case = of(&format!("t10_h67_{dtype}_{word}_floor"), dtype, facts, 10, 67);
            let case = case.map(|c| c.scalar("scale_floor", FLOOR));
            cases.extend(case.map(|c| c.fill("input", Fill::Function(DEGENERATE))));
            let case = of(&format!("t5_h67_{dtype}_{word}_floor_between"), dtype, facts, 5, 67);
            cases.extend(case.map(|c| c.scalar("scale_floor", 0.01).fill("input", Fill::Function(GRADES))));
        }
    }
    cases
}

/// The largest magnitude in one place of each row, from the first to the last, and of both signs: a maximum that leaves out
/// the end of a row shows.
fn last_places() -> Vec<Case<DynamicQuant>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for width in [33, 131, 300] {
            let input: ValueAt = |row, column| match column == row {
                true => [100.0, -120.0, 200.0][row % 3],
                false => 0.25 + (column % 7) as f64,
            };
            let case = of(&format!("t{width}_h{width}_{dtype}_largest_anywhere"), dtype, FLAGS[0].1, width, width);
            cases.extend(case.map(|c| c.fill("input", Fill::Function(input))));
        }
    }
    cases
}
