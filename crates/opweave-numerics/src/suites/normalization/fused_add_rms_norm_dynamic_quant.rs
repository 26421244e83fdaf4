// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `fused_add_rms_norm_dynamic_quant`.

use opweave_contract::ops::normalization::FusedAddRmsNormDynamicQuant;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, Model, Shape};
use super::quantized;
use crate::compare::Tolerance;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments};

/// Rows of public models, in vLLM's order where they are served in 8 bits by it.
const MODELS: &[Model] = &[
    model("llama3_8b", 4096, VLLM, 1e-5),
    model("qwen2_5_7b", 3584, VLLM_I8, 1e-6),
    model("mistral_7b", 4096, &[], 1e-5),
    model("deepseek_v3", 7168, VLLM, 1e-6),
    model("llama3_405b", 16384, VLLM, 1e-5),
    model("smollm2_135m", 576, &["mode=f32"], 1e-5),
];

const VLLM: &[&str] = &["sum=rounded", "weight_multiply=after_rounding"];
const VLLM_I8: &[&str] = &["sum=rounded", "output_dtype=i8"];

const fn model(name: &'static str, hidden_size: usize, facts: &'static [&'static str], epsilon: f64) -> Model {
    Model { name, hidden_size, dtype: "bf16", facts, epsilon, rows: 1 }
}

const SHAPE: Shape = Shape {
    models: MODELS,
    alias: None,
    single: "a row of one element has the largest code, and its norm is the weight",
    zero_rows: None,
    flat_rows: None,
};

pub(super) struct FusedAddRmsNormDynamicQuantSuite;

impl Suite for FusedAddRmsNormDynamicQuantSuite {
    type Op = FusedAddRmsNormDynamicQuant;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<FusedAddRmsNormDynamicQuant>> {
        let cases = common::cases(&SHAPE, arguments, wide_rows().into_iter().chain(floors()));
        cases
            .into_iter()
            .map(quantized::may_be_constant(|case: &Case<FusedAddRmsNormDynamicQuant>| case.problem.scale_format))
            .collect()
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<FusedAddRmsNormDynamicQuant>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        common::base()
    }

    fn fill(&self, argument: &str) -> Fill {
        common::fill(argument)
    }

    fn accumulation_length(&self, case: &Case<FusedAddRmsNormDynamicQuant>) -> usize {
        case.problem.hidden_size
    }

    fn tolerance(
        &self,
        case: &Case<FusedAddRmsNormDynamicQuant>,
        name: &str,
        dtype: DType,
        inputs: &Arguments,
    ) -> Tolerance {
        quantized::tolerance(case, case.problem.dtype, case.problem.mode, name, dtype, inputs)
    }
}

/// Rows of more columns than are normalised at once, also where f32 cannot hold their squares.
fn wide_rows() -> Vec<Case<FusedAddRmsNormDynamicQuant>> {
    let mut cases = Vec::new();
    for dtype in common::DTYPES {
        for (mode, width) in [("composed", 8192), ("composed", 8193), ("composed", 20_001), ("f32", 20_001)] {
            let mut facts = common::facts(width, dtype);
            facts.push(format!("mode={mode}"));
            let of = |word: &str| {
                common::case::<FusedAddRmsNormDynamicQuant>(format!("t3_h{width}_{dtype}_{mode}{word}"), &facts, 3)
            };
            cases.extend(of(""));
            if dtype != "f16" {
                let huge = Fill::Function(|row, column| 3e38 * common::wave(row, column));
                cases.extend(of("_huge").map(|case| case.fill("input", huge)));
            }
        }
    }
    cases
}

/// A least scale above that of some rows, and the whole range of i8.
fn floors() -> Vec<Case<FusedAddRmsNormDynamicQuant>> {
    let mut cases = Vec::new();
    for dtype in common::DTYPES {
        // A norm's largest value is about 3, above in some rows and below in others.
        for (codes, floor) in [("f8e4m3", 3.0 / 448.0), ("i8", 3.0 / 127.0)] {
            let mut facts = common::facts(200, dtype);
            facts.extend([format!("output_dtype={codes}"), "i8_range=128".to_owned()]);
            let case = common::case::<FusedAddRmsNormDynamicQuant>(format!("t8_h200_{dtype}_{codes}_floor"), &facts, 8);
            let input = Fill::Function(|row, column| common::wave(row, column) * 10_f64.powi(row as i32 - 6));
            cases.extend(case.map(|case| case.fill("input", input).scalar("scale_floor", floor)));
        }
    }
    cases
}
