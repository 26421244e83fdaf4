// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `fused_qk_norm_rope`.

use opweave_contract::ops::rotary::FusedQkNormRope;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, DTYPES, OUTSIDE, Shape, case, facts, turned};
use crate::compare::Tolerance;
use crate::config::Tier;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments, table_tolerance};
use crate::suites::core_matrix;

/// Name, shape, style.
const MODELS: &[(&str, Shape, &str)] = &[
    ("qwen3_8b", (32, 8, 128, 128), "neox"),
    ("qwen3_30b_a3b", (32, 4, 128, 128), "neox"),
    ("glm4_5", (96, 8, 128, 64), "neox"),
    ("apertus_8b", (32, 8, 128, 128), "neox"),
    // Its weight is one less than what multiplies, and is folded when it is loaded.
    ("gemma3_4b", (8, 4, 256, 256), "neox"),
];

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = FusedQkNormRope;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<FusedQkNormRope>> {
        let (tokens, head_dim) = (arguments.integer("tokens"), arguments.integer("head_dim"));
        if tokens.is_some() || head_dim.is_some() {
            return combinations(tokens.unwrap_or(5), head_dim.unwrap_or(24));
        }
        let mut cases = common::models(MODELS);
        cases.extend(combinations(5, 24));
        // Without values, whose magnitude would hide that of normalised heads.
        cases.extend(common::dtypes_and_styles(&["qkv"], &[("num_value_heads", "0")], |of| {
            let zeros = of("zeros_eps0", 3).map(|c| c.fill("qkv", Fill::Constant(0.0)).scalar("epsilon", 0.0));
            let zeros = zeros.map(|c| c.constant("heads of zeros without epsilon are NaN"));
            of("epsilon_large", 4).map(|c| c.scalar("epsilon", 0.75)).into_iter().chain(zeros).collect()
        }));
        let far = case("t2_h1x1_d16_bf16_past_2_31", (1, 1, 16, 16), "bf16", &[], 2);
        cases.extend(common::far(far, "qkv", 48));
        let tokens = (1 << 31) / 4096 + 1;
        let label = format!("t{tokens}_h16x8_d128_bf16_sampled_past_2_31");
        let large = case(&label, (16, 8, 128, 128), "bf16", &[], tokens);
        cases.extend(large.map(|c| c.sampled(64).tier(Tier::Full)));
        cases
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<FusedQkNormRope>> {
        let sized = |heads: (usize, usize), (width, turned): (usize, usize), tokens: usize, tier: Tier| {
            let label = format!("t{tokens}_h{}x{}_d{width}_bf16", heads.0, heads.1);
            let case = case(&label, (heads.0, heads.1, width, turned), "bf16", &[], tokens)?;
            Some(case.tier(tier).judged_by(core_matrix::JUDGED))
        };
        let timed = |(tokens, tier): (usize, Tier)| sized((32, 8), (128, 128), tokens, tier);
        let own = [(1, Tier::Smoke), (16, Tier::Full), (1024, Tier::Default), (8192, Tier::Full)];
        let matrix = core_matrix::TOKENS.map(|tokens| timed((tokens, Tier::Full)));
        let models = core_matrix::HEADS
            .into_iter()
            .flat_map(|heads| core_matrix::MODEL_TOKENS.map(|tokens| sized(heads, (128, 128), tokens, Tier::Full)));
        // Part of a head turns, as in Phi-2, and heads fit no vector.
        let awkward = sized((7, 1), (80, 34), core_matrix::AWKWARD.0, Tier::Full);
        let matrix = matrix.into_iter().chain(models).chain([awkward]);
        core_matrix::with(own.into_iter().filter_map(timed).collect(), matrix)
    }

    fn base(&self) -> Vec<String> {
        facts((3, 2, 20, 18), "bf16", &[])
    }

    fn fill(&self, argument: &str) -> Fill {
        common::fill(argument)
    }

    fn accumulation_length(&self, case: &Case<FusedQkNormRope>) -> usize {
        case.problem.head_dim
    }

    fn tolerance(&self, case: &Case<FusedQkNormRope>, _: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        let weight = |name| inputs.get(name).map_or(1.0, |w| w.data.iter().fold(0.0, |m: f64, v| m.max(v.abs())));
        let weight = weight("q_weight").max(weight("k_weight"));
        // As for `rotary_embedding`; the norm and the weight round before, each once.
        let condition = 6.0 * (case.problem.head_dim as f64).sqrt();
        table_tolerance(case, dtype, self.accumulation_length(case)).amplified(1.0 + weight).loosened_by_condition(
            condition,
            DType::F32,
            "the products of a turn cancel; their error is relative to the pair's norm",
        )
    }
}

/// Every mode, style and dtype, weights and tables; all positions in the table, and some not.
fn combinations(tokens: usize, head_dim: usize) -> Vec<Case<FusedQkNormRope>> {
    let rotary_dim = turned(head_dim);
    let mut cases = Vec::new();
    for dtype in DTYPES {
        let parameters = if dtype == "f32" { &["f32"][..] } else { &["f32", dtype][..] };
        for (style, between) in
            [("neox", "f32"), ("neox", "rounded"), ("interleaved", "f32"), ("interleaved", "rounded")]
        {
            for &table in parameters {
                for weight in parameters.iter().copied().chain(["none"]) {
                    let more = [
                        ("style", style),
                        ("between", between),
                        ("cache_dtype", table),
                        ("weight_dtype", weight),
                        ("num_value_heads", "1"),
                    ];
                    let label = format!(
                        "t{tokens}_h3x2_d{head_dim}_r{rotary_dim}_{dtype}_{style}_{between}_table_{table}_weight_{weight}"
                    );
                    cases.extend(case(&label, (3, 2, head_dim, rotary_dim), dtype, &more, tokens));
                }
            }
            for (position, wrong) in OUTSIDE {
                let more = [("style", style), ("between", between), ("position_dtype", position)];
                let label = format!("t{tokens}_h2x1_d{head_dim}_{dtype}_{style}_{between}_{position}_outside");
                let outside = case(&label, (2, 1, head_dim, rotary_dim), dtype, &more, tokens);
                cases.extend(outside.map(|c| common::outside(c, wrong)));
            }
        }
    }
    cases
}
