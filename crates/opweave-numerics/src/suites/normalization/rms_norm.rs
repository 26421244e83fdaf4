// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `rms_norm`.

use opweave_contract::ops::normalization::RmsNorm;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, Model, Shape};
use crate::compare::Tolerance;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments};

/// Rows of public models. Transformers' code rounds before the weight; FlashInfer multiplies in f32.
const MODELS: &[Model] = &[
    model("llama3_8b", 4096, &["weight_multiply=after_rounding"], 1e-5, 1),
    model("llama3_70b", 8192, &[], 1e-5, 1),
    model("qwen2_5_7b", 3584, &["weight_multiply=after_rounding"], 1e-6, 1),
    // Norm of query heads.
    model("qwen3_8b_head", 128, &["weight_multiply=after_rounding"], 1e-6, 32),
    model("mistral_7b", 4096, &[], 1e-5, 1),
    model("deepseek_v3", 7168, &[], 1e-6, 1),
    // Norm of the latent of keys and values.
    model("deepseek_v3_latent", 512, &[], 1e-6, 1),
    model("smollm2_135m", 576, &[], 1e-5, 1),
];

const fn model(
    name: &'static str,
    hidden_size: usize,
    facts: &'static [&'static str],
    epsilon: f64,
    rows: usize,
) -> Model {
    Model { name, hidden_size, dtype: "bf16", facts, epsilon, rows }
}

const SHAPE: Shape = Shape {
    models: MODELS,
    alias: Some(("out", "input")),
    single: "a row of one element is its sign times the weight",
    zero_rows: Some("rows of zeros without epsilon are NaN"),
    flat_rows: Some("each row is one number, so its norm is the weight, which is one"),
    other: Some(("rounded", &["weight_multiply=after_rounding"])),
};

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = RmsNorm;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<RmsNorm>> {
        common::cases(&SHAPE, arguments, rounding_orders())
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<RmsNorm>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        common::base()
    }

    fn fill(&self, argument: &str) -> Fill {
        common::fill(argument)
    }

    fn accumulation_length(&self, case: &Case<RmsNorm>) -> usize {
        case.problem.hidden_size
    }

    fn tolerance(&self, case: &Case<RmsNorm>, _: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        common::tolerance(case, dtype, self.accumulation_length(case), inputs)
    }
}

/// Two rows whose normalised value is 1.0048828 or so and whose weight is 1.5: rounding first gives 1.515625, rounding once
/// gives 1.5078125.
fn rounding_orders() -> Vec<Case<RmsNorm>> {
    // 1.0048828 in all but one of 64 columns; the last makes the mean of squares one.
    let input = |row: usize, column: usize| {
        let rest = (64.0 - 63.0 * 1.004_882_8_f64.powi(2)).sqrt();
        (if column == 63 { rest } else { 1.004_882_8 }) * 2_f64.powi(row as i32)
    };
    ["f32", "after_rounding"]
        .into_iter()
        .filter_map(|order| {
            let mut facts = common::facts(64, "f16");
            facts.push(format!("weight_multiply={order}"));
            Some(
                common::case::<RmsNorm>(format!("t2_h64_f16_order_{order}"), &facts, 2)?
                    .fill("input", Fill::Function(input)),
            )
        })
        .map(|case| case.fill("weight", Fill::Constant(1.5)).scalar("epsilon", 0.0))
        .collect()
}
