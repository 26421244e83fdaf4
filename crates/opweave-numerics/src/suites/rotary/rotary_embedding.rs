// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `rotary_embedding`.

use opweave_contract::ops::rotary::{POSITION_OUTSIDE_THE_CACHE, RotaryEmbedding};
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, DTYPES, OUTSIDE, POSITIONS, Shape, case, facts, turned};
use crate::compare::Tolerance;
use crate::config::Tier;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments, table_tolerance};
use crate::suites::core_matrix;

/// Name, shape, style.
const MODELS: &[(&str, Shape, &str)] = &[
    ("llama3_8b", (32, 8, 128, 128), "neox"),
    ("qwen2_5_7b", (28, 4, 128, 128), "neox"),
    ("gemma2_2b", (8, 4, 256, 256), "neox"),
    ("phi3_mini", (32, 32, 96, 96), "neox"),
    ("glm4_9b", (32, 2, 128, 64), "interleaved"),
    ("gptj_6b", (16, 16, 256, 64), "interleaved"),
    // The rotary part of the latent attention: one key head for all.
    ("deepseek_v3", (128, 1, 64, 64), "interleaved"),
];

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = RotaryEmbedding;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<RotaryEmbedding>> {
        let (tokens, head_dim) = (arguments.integer("tokens"), arguments.integer("head_dim"));
        if tokens.is_some() || head_dim.is_some() {
            let head_dim = head_dim.unwrap_or(24);
            return combinations(tokens.unwrap_or(5), head_dim, turned(head_dim));
        }
        let mut cases = common::models(MODELS);
        cases.extend(combinations(5, 24, turned(24)));
        // Heads as kernels like them, of which half turn.
        cases.extend(combinations(7, 64, 32));
        cases.extend(layouts());
        cases.extend(common::dtypes_and_styles(&["q", "k"], &[], |of| {
            let swapped = of("swapped", 4).map(|c| c.lie(0, 1).inner_gap(3).swapped());
            swapped.into_iter().chain(of("q_shifted", 4).map(|c| c.lie_of("q", 0, 1))).collect()
        }));
        cases.extend(common::far(case("t2_h1x1_d16_bf16_q_past_2_31", (1, 1, 16, 16), "bf16", &[], 2), "q", 16));
        cases.extend(common::far(
            case("t2_h1x1_d16_bf16_table_past_2_31", (1, 1, 16, 16), "bf16", &[], 2),
            "cos_sin_cache",
            16,
        ));
        let tokens = (1 << 31) / 4096 + 1;
        let label = format!("t{tokens}_h32x1_d128_bf16_past_2_31");
        let large = case(&label, (32, 1, 128, 128), "bf16", &[("key_dtype", "none")], tokens);
        cases.extend(large.map(|c| c.sampled(64).tier(Tier::Full)));
        cases
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<RotaryEmbedding>> {
        let sizes = [
            (1, "neox", Tier::Smoke),
            (16, "neox", Tier::Full),
            (16, "interleaved", Tier::Full),
            (1024, "neox", Tier::Default),
            (8192, "neox", Tier::Full),
            (8192, "interleaved", Tier::Full),
        ];
        let sized = |heads: (usize, usize), (width, turned): (usize, usize), tokens: usize, style: &str, tier: Tier| {
            let label = format!("t{tokens}_h{}x{}_d{width}_bf16_{style}", heads.0, heads.1);
            let case = case(&label, (heads.0, heads.1, width, turned), "bf16", &[("style", style)], tokens)?;
            Some(case.tier(tier).judged_by(core_matrix::JUDGED))
        };
        let timed = |(tokens, style, tier): (usize, &str, Tier)| sized((32, 8), (128, 128), tokens, style, tier);
        let matrix = core_matrix::TOKENS.map(|tokens| timed((tokens, "neox", Tier::Full)));
        let models = core_matrix::HEADS.into_iter().flat_map(|heads| {
            core_matrix::MODEL_TOKENS.map(|tokens| sized(heads, (128, 128), tokens, "neox", Tier::Full))
        });
        // Part of a head turns, as in Phi-2, and heads fit no vector.
        let awkward = sized((7, 1), (80, 34), core_matrix::AWKWARD.0, "neox", Tier::Full);
        let matrix = matrix.into_iter().chain(models).chain([awkward]);
        core_matrix::with(sizes.into_iter().filter_map(timed).collect(), matrix)
    }

    fn base(&self) -> Vec<String> {
        facts((3, 2, 20, 18), "bf16", &[])
    }

    fn fill(&self, argument: &str) -> Fill {
        common::fill(argument)
    }

    fn accumulation_length(&self, _: &Case<RotaryEmbedding>) -> usize {
        2
    }

    fn tolerance(&self, case: &Case<RotaryEmbedding>, _: &str, dtype: DType, _: &Arguments) -> Tolerance {
        // A turn keeps the norm of its pair, times that of cosine and sine, and each product is at most that. So what
        // cancels in one feature is below the head's norm, which is the root of its features times their rms.
        let condition = 2.0 * (case.problem.head_dim as f64).sqrt();
        table_tolerance(case, dtype, self.accumulation_length(case)).loosened_by_condition(
            condition,
            DType::F32,
            "the products of a turn cancel; their error is relative to the pair's norm",
        )
    }
}

/// Of heads as kernels like them, gaps between tokens and between heads, and a table without rows, which no position has.
fn layouts() -> Vec<Case<RotaryEmbedding>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        let of = |what: &str| {
            let label = format!("t4_h3x2_d64_r32_{dtype}_table_{dtype}_{what}");
            case(&label, (3, 2, 64, 32), dtype, &[("cache_dtype", dtype)], 4)
        };
        cases.extend(of("strided").map(|c| c.lie(7, 0)));
        cases.extend(of("heads_apart").map(|c| c.inner_gap(5).lie(0, 1)));
        let none = of("no_table").map(|c| Case { dims: vec![4, 0], ..c });
        let none = none.map(|c| c.fill("positions", Fill::Cycle(&[0, 1, -1, 39])));
        cases.extend(none.map(|c| c.faults(POSITION_OUTSIDE_THE_CACHE, 0..4)));
    }
    cases
}

/// Every mode, style and dtype; all positions in the table, and some not.
fn combinations(tokens: usize, head_dim: usize, rotary_dim: usize) -> Vec<Case<RotaryEmbedding>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        let tables = if dtype == "f32" { &["f32"][..] } else { &["f32", dtype][..] };
        for style in ["neox", "interleaved"] {
            for products in ["f32", "rounded"] {
                for &table in tables {
                    for (position, wrong) in OUTSIDE {
                        let more = [
                            ("style", style),
                            ("products", products),
                            ("cache_dtype", table),
                            ("position_dtype", position),
                        ];
                        let label = format!(
                            "t{tokens}_h3x2_d{head_dim}_r{rotary_dim}_{dtype}_{style}_{products}_table_{table}_{position}"
                        );
                        let shape = (3, 2, head_dim, rotary_dim);
                        cases.extend(case(&label, shape, dtype, &more, tokens));
                        let outside = case(&format!("{label}_outside"), shape, dtype, &more, tokens);
                        cases.extend(outside.map(|c| common::outside(c, wrong)));
                    }
                }
            }
            let alone = [("style", style), ("key_dtype", "none")];
            let label = format!("t{tokens}_h5x1_d{head_dim}_{dtype}_{style}_no_keys");
            cases.extend(case(&label, (5, 1, head_dim, rotary_dim), dtype, &alone, tokens));
            // The last row of the table, and the same position again.
            let label = format!("t{tokens}_h3x2_d{head_dim}_{dtype}_{style}_last");
            let last = case(&label, (3, 2, head_dim, rotary_dim), dtype, &[("style", style)], tokens);
            cases.extend(last.map(|c| c.fill("positions", Fill::Cycle(&[POSITIONS as i64 - 1, 0]))));
        }
    }
    cases
}
