// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `fused_add_rms_norm`.

use opweave_contract::ops::normalization::FusedAddRmsNorm;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, Model, Shape};
use crate::compare::Tolerance;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments};

/// Rows of public models, in the orders of vLLM and of FlashInfer.
const MODELS: &[Model] = &[
    model("llama3_8b", 4096, VLLM, 1e-5),
    model("llama3_70b", 8192, &[], 1e-5),
    model("qwen2_5_7b", 3584, VLLM, 1e-6),
    model("mistral_7b", 4096, &[], 1e-5),
    model("deepseek_v3", 7168, VLLM, 1e-6),
    model("smollm2_135m", 576, &[], 1e-5),
];

const VLLM: &[&str] = &["sum=rounded", "weight_multiply=after_rounding"];

const fn model(name: &'static str, hidden_size: usize, facts: &'static [&'static str], epsilon: f64) -> Model {
    Model { name, hidden_size, dtype: "bf16", facts, epsilon, rows: 1 }
}

pub(super) const SHAPE: Shape = Shape {
    models: MODELS,
    alias: Some(("out", "input")),
    single: "a row of one element is its sign times the weight",
    zero_rows: None,
    flat_rows: None,
    other: Some(("vllm", VLLM)),
};

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = FusedAddRmsNorm;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<FusedAddRmsNorm>> {
        common::cases(&SHAPE, arguments, worked())
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<FusedAddRmsNorm>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        common::base()
    }

    fn fill(&self, argument: &str) -> Fill {
        common::fill(argument)
    }

    fn accumulation_length(&self, case: &Case<FusedAddRmsNorm>) -> usize {
        case.problem.hidden_size
    }

    fn tolerance(&self, case: &Case<FusedAddRmsNorm>, _: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        common::tolerance(case, dtype, self.accumulation_length(case), inputs)
    }
}

/// Input 1 2 3 4, residual ones, weight ones, no epsilon: apart, and with the output in the input's memory, where a kernel
/// that writes before its last read shows.
fn worked() -> Vec<Case<FusedAddRmsNorm>> {
    let case = |label: &str| {
        let case = common::case::<FusedAddRmsNorm>(format!("t1_h4_f32_worked{label}"), &common::facts(4, "f32"), 1)?;
        let case = case.fill("input", Fill::Function(|_, column| column as f64 + 1.0)).scalar("epsilon", 0.0);
        Some(case.fill("residual", Fill::Constant(1.0)).fill("weight", Fill::Constant(1.0)))
    };
    case("").into_iter().chain(case("_in_place").map(|c| c.alias("out", "input"))).collect()
}
