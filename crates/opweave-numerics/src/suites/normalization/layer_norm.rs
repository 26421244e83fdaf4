// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `layer_norm`.

use opweave_contract::ops::normalization::LayerNorm;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, Model, Shape};
use crate::compare::{Tolerance, accumulation_factor};
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments, ValueAt};

/// Rows of public models.
const MODELS: &[Model] = &[
    model("gpt2", 768, "f32", &[], 1e-5),
    model("opt_6_7b", 4096, "f16", &[], 1e-5),
    model("falcon_40b", 8192, "bf16", &[], 1e-5),
    model("phi2", 2560, "f16", &[], 1e-5),
    model("whisper_large", 1280, "f16", &[], 1e-5),
    model("bert_large", 1024, "f32", &[], 1e-12),
    // No bias.
    model("command_r", 8192, "bf16", &["bias_dtype=none"], 1e-5),
    // Neither weight nor bias.
    model("olmo_7b", 4096, "bf16", &["weight_dtype=none", "bias_dtype=none"], 1e-5),
];

const fn model(
    name: &'static str,
    hidden_size: usize,
    dtype: &'static str,
    facts: &'static [&'static str],
    epsilon: f64,
) -> Model {
    Model { name, hidden_size, dtype, facts, epsilon, rows: 1 }
}

const SHAPE: Shape = Shape {
    models: MODELS,
    alias: Some(("out", "input")),
    single: "a row of one element is its own mean, so only the bias is left",
    zero_rows: Some("rows of zeros without epsilon are NaN"),
    flat_rows: None,
    other: None,
};

/// Why errors are measured against the row and not against the element.
const CANCELS: &str = "the mean is subtracted: an element near it keeps the error of the larger numbers";

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = LayerNorm;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<LayerNorm>> {
        common::cases(&SHAPE, arguments, offset_rows())
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<LayerNorm>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        common::base()
    }

    fn fill(&self, argument: &str) -> Fill {
        common::fill(argument)
    }

    fn accumulation_length(&self, case: &Case<LayerNorm>) -> usize {
        case.problem.hidden_size
    }

    fn tolerance(&self, case: &Case<LayerNorm>, _: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        let length = self.accumulation_length(case);
        let table = common::tolerance(case, dtype, length, inputs);
        let epsilon = inputs.scalar("epsilon").unwrap_or(0.0);
        let rows = inputs.get("input").map_or(&[][..], |input| &input.data);
        let worst = rows.chunks(length).map(|row| condition(row, epsilon)).fold(1.0, f64::max);
        table.loosened_by_condition(accumulation_factor(length) * worst, DType::F32, CANCELS)
    }
}

/// How much larger the numbers of a row are than what is left of them: rms over standard deviation. Rows with anything that
/// is not finite have none: they are compared exactly.
fn condition(row: &[f64], epsilon: f64) -> f64 {
    let n = row.len() as f64;
    let mean = row.iter().sum::<f64>() / n;
    let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    let square = row.iter().map(|x| x * x).sum::<f64>() / n;
    let condition = (square / (variance + epsilon)).sqrt();
    if condition.is_finite() { condition } else { 1.0 }
}

/// Rows of 10000, 10001, 10002, 10003 and of a million and on: the variance is 1.25 in both, and the mean of squares less
/// the square of the mean is 0 and -65536.
fn offset_rows() -> Vec<Case<LayerNorm>> {
    let input: ValueAt = |row, column| [1e4, 1e6][row % 2] + column as f64;
    let of =
        |width: usize| common::case::<LayerNorm>(format!("t2_h{width}_f32_offset"), &common::facts(width, "f32"), 2);
    [4, 64, 1000].into_iter().filter_map(of).map(|case| case.fill("input", Fill::Function(input))).collect()
}
