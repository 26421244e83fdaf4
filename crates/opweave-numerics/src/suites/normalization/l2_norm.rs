// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `l2_norm`.

use opweave_contract::ops::normalization::L2Norm;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, Model, Shape};
use crate::compare::Tolerance;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments, ValueAt};

/// Rows of public models: norms of query and key heads, and of embeddings.
const MODELS: &[Model] = &[
    model("qwen3_next_80b_head", 128, "bf16", &[], 1e-6, 16),
    model("kimi_linear_48b_head", 128, "bf16", &[], 1e-6, 32),
    model("all_minilm_l6", 384, "f32", &["form=max_norm_eps"], 1e-12, 1),
    model("bge_m3", 1024, "f16", &["form=max_norm_eps"], 1e-12, 1),
    model("e5_mistral_7b", 4096, "bf16", &["form=max_norm_eps"], 1e-12, 1),
];

const fn model(
    name: &'static str,
    hidden_size: usize,
    dtype: &'static str,
    facts: &'static [&'static str],
    epsilon: f64,
    rows: usize,
) -> Model {
    Model { name, hidden_size, dtype, facts, epsilon, rows }
}

const SHAPE: Shape = Shape {
    models: MODELS,
    alias: Some(("out", "input")),
    single: "a row of one element is its sign",
    zero_rows: Some("rows of zeros without epsilon are NaN"),
    flat_rows: None,
    other: None,
};

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = L2Norm;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<L2Norm>> {
        common::cases(&SHAPE, arguments, epsilon_rules())
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<L2Norm>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        common::base()
    }

    fn fill(&self, argument: &str) -> Fill {
        common::fill(argument)
    }

    fn accumulation_length(&self, case: &Case<L2Norm>) -> usize {
        case.problem.hidden_size
    }

    fn tolerance(&self, case: &Case<L2Norm>, _: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        common::tolerance(case, dtype, self.accumulation_length(case), inputs)
    }
}

/// Rows whose norm lies on both sides of a large epsilon: added, it changes all; as a floor, it changes the small ones.
fn epsilon_rules() -> Vec<Case<L2Norm>> {
    let input: ValueAt = |row, column| common::wave(row, column) * 4_f64.powi(row as i32 - 3);
    let mut cases = Vec::new();
    for form in ["rsqrt_sum_eps", "max_norm_eps"] {
        for dtype in common::DTYPES {
            let mut facts = common::facts(48, dtype);
            facts.push(format!("form={form}"));
            let case = common::case::<L2Norm>(format!("t6_h48_{dtype}_epsilon_{form}"), &facts, 6);
            cases.extend(case.map(|case| case.fill("input", Fill::Function(input)).scalar("epsilon", 2.0)));
        }
    }
    cases
}
