// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `rms_norm_gated`.

use opweave_contract::ops::normalization::RmsNormGated;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, Model, Shape};
use crate::compare::Tolerance;
use crate::input::{Grade, Spread};
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments, ValueAt};

/// Rows of public models. Mamba2 gates first and norms in groups; the linear-attention heads of Qwen3-Next norm first.
const MODELS: &[Model] = &[
    model("mamba2_2_7b", 5120, GATE_FIRST, 1),
    model("codestral_mamba_7b", 8192, &["order=gate_then_norm", "groups=8"], 1),
    model("nemotron_h_8b", 8192, &["order=gate_then_norm", "groups=8"], 1),
    model("zamba2_7b", 7168, &["order=gate_then_norm", "groups=2"], 1),
    model("qwen3_next_80b_head", 128, &["weight_multiply=after_rounding"], 32),
    model("kimi_linear_48b_head", 128, &["gate=sigmoid"], 32),
];

const GATE_FIRST: &[&str] = &["order=gate_then_norm"];

const fn model(name: &'static str, hidden_size: usize, facts: &'static [&'static str], rows: usize) -> Model {
    Model { name, hidden_size, dtype: "bf16", facts, epsilon: 1e-5, rows }
}

const SHAPE: Shape = Shape {
    models: MODELS,
    alias: Some(("out", "input")),
    single: "a row of one element is its sign times weight and gate",
    zero_rows: Some("rows of zeros without epsilon are NaN"),
    flat_rows: None,
    other: None,
};

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = RmsNormGated;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<RmsNormGated>> {
        common::cases(&SHAPE, arguments, groups().into_iter().chain(gate_tails()).chain(special_gates()))
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<RmsNormGated>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        common::base()
    }

    fn fill(&self, argument: &str) -> Fill {
        // In f32 an infinite weight times a gate that underflows is NaN, an order of multiplications that the contract
        // leaves open; each extreme is met alone instead.
        match argument {
            "weight" => Fill::Tame(Spread { center: 1.0, scale: 0.25 }),
            "z" => Fill::Tame(Spread::STANDARD),
            _ => common::fill(argument),
        }
    }

    fn accumulation_length(&self, case: &Case<RmsNormGated>) -> usize {
        case.problem.hidden_size / case.problem.groups.max(1)
    }

    fn tolerance(&self, case: &Case<RmsNormGated>, _: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        common::tolerance(case, dtype, self.accumulation_length(case), inputs)
    }
}

/// Groups of every size: one element, odd, one vector and more, in both orders.
fn groups() -> Vec<Case<RmsNormGated>> {
    let mut cases = Vec::new();
    for (width, groups) in [(136, 8), (136, 136), (136, 4), (75, 5), (75, 3), (77, 7), (4096, 8), (1024, 64)] {
        for order in ["norm_then_gate", "gate_then_norm"] {
            for dtype in common::DTYPES {
                let mut facts = common::facts(width, dtype);
                facts.extend([format!("groups={groups}"), format!("order={order}")]);
                cases.extend(common::case(format!("t3_h{width}_{dtype}_g{groups}_{order}"), &facts, 3));
            }
        }
    }
    cases
}

/// Gates far out in both tails, where an exponential overflows or a sigmoid is all that is left.
fn gate_tails() -> Vec<Case<RmsNormGated>> {
    let z: ValueAt = |row, column| common::wave(row, column) * [1.0, 30.0, 120.0, 3000.0][row % 4];
    let mut cases = Vec::new();
    for gate in ["silu", "sigmoid"] {
        for dtype in common::DTYPES {
            let mut facts = common::facts(96, dtype);
            facts.push(format!("gate={gate}"));
            let case = common::case::<RmsNormGated>(format!("t8_h96_{dtype}_tails_{gate}"), &facts, 8);
            cases.extend(case.map(|case| case.fill("z", Fill::Function(z))));
        }
    }
    cases
}

/// NaN, infinities, subnormals and signed zeros in the gate, on ordinary rows.
fn special_gates() -> Vec<Case<RmsNormGated>> {
    let mut cases = Vec::new();
    for dtype in common::DTYPES {
        let case = common::case::<RmsNormGated>(format!("t16_h65_{dtype}_special_gate"), &common::facts(65, dtype), 16);
        let special = case.map(|case| case.grade(Grade::Special).fill("z", Fill::STANDARD));
        cases.extend(special.map(|case| case.fill("input", Fill::Tame(Spread::STANDARD))));
    }
    cases
}
