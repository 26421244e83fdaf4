// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `gemma_rms_norm`.

use opweave_contract::ops::normalization::GemmaRmsNorm;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, Model, Shape};
use crate::compare::Tolerance;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments, ValueAt};

/// Rows of public models that scale by one more than the weight.
pub(super) const MODELS: &[Model] = &[
    model("gemma_2b", 2048, 1),
    model("gemma2_9b", 3584, 1),
    model("gemma3_4b", 2560, 1),
    // Norm of query heads.
    model("gemma3_4b_head", 256, 8),
    model("gemma3_27b", 5376, 1),
    model("recurrentgemma_2b", 2560, 1),
    model("paligemma_3b", 2048, 1),
    model("qwen3_next_80b", 2048, 1),
];

const fn model(name: &'static str, hidden_size: usize, rows: usize) -> Model {
    Model { name, hidden_size, dtype: "bf16", facts: &[], epsilon: 1e-6, rows }
}

const SHAPE: Shape = Shape {
    models: MODELS,
    alias: Some(("out", "input")),
    single: "a row of one element is its sign times the scale",
    zero_rows: Some("rows of zeros without epsilon are NaN"),
    flat_rows: Some("each row is one number, so its norm is the scale, which is two"),
    other: Some(("rounded", &["weight_multiply=after_rounding"])),
};

/// Weights about zero: the scale is one more.
pub(super) fn fill(argument: &str) -> Fill {
    if argument == "weight" { Fill::about(0.0, 0.25) } else { common::fill(argument) }
}

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = GemmaRmsNorm;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<GemmaRmsNorm>> {
        common::cases(&SHAPE, arguments, scales())
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<GemmaRmsNorm>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        common::base()
    }

    fn fill(&self, argument: &str) -> Fill {
        fill(argument)
    }

    fn accumulation_length(&self, case: &Case<GemmaRmsNorm>) -> usize {
        case.problem.hidden_size
    }

    fn tolerance(&self, case: &Case<GemmaRmsNorm>, _: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        common::tolerance(case, dtype, self.accumulation_length(case), inputs)
    }
}

/// Weights whose sum with one loses bits in bf16, 0.00390625 and 15.8125, on normalised values of one: 1 + w is 1.00390625
/// and 16.8125, in bf16 it would be 1 and 16.75.
fn scales() -> Option<Case<GemmaRmsNorm>> {
    let mut facts = common::facts(64, "f32");
    facts.push("weight_dtype=f32".to_owned());
    let case = common::case::<GemmaRmsNorm>("t3_h64_f32_scale_of_small_weight".to_owned(), &facts, 3)?;
    let weight: ValueAt = |_, column| if column % 2 == 0 { 0.003_906_25 } else { 15.8125 };
    Some(case.fill("weight", Fill::Function(weight)).fill("input", Fill::Function(|row, _| row as f64 + 1.0)))
}
