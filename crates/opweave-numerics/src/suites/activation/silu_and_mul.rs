// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `silu_and_mul`.

use opweave_contract::ops::activation::SiluAndMul;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, Model};
use crate::compare::Tolerance;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments};

/// Feed-forward layers of public models: name, width, dtype.
const MODELS: &[Model] = &[
    ("llama3_8b", 14336, "bf16"),
    ("qwen2_5_7b", 18944, "bf16"),
    ("mistral_small_24b", 32768, "bf16"),
    ("deepseek_v3_expert", 2048, "bf16"),
    ("phi3_mini", 8192, "bf16"),
];

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = SiluAndMul;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<SiluAndMul>> {
        common::cases(MODELS, arguments)
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<SiluAndMul>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        common::base()
    }

    fn fill(&self, argument: &str) -> Fill {
        common::fill(argument)
    }

    fn accumulation_length(&self, _: &Case<SiluAndMul>) -> usize {
        1
    }

    fn tolerance(&self, case: &Case<SiluAndMul>, _: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        common::tolerance(case, dtype, self.accumulation_length(case), inputs)
    }
}
