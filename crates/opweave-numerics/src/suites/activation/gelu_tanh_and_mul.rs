// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `gelu_tanh_and_mul`.

use opweave_contract::ops::activation::GeluTanhAndMul;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, Model};
use crate::compare::Tolerance;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments};

/// Feed-forward layers of public models: name, width, dtype.
const MODELS: &[Model] = &[
    ("gemma2_9b", 14336, "bf16"),
    ("gemma3_27b", 21504, "bf16"),
    ("recurrentgemma_2b", 7680, "bf16"),
    ("t5_v1_1_xl", 5120, "f32"),
    ("grok_1_expert", 32768, "bf16"),
];

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = GeluTanhAndMul;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<GeluTanhAndMul>> {
        common::cases(MODELS, arguments)
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<GeluTanhAndMul>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        common::base()
    }

    fn fill(&self, argument: &str) -> Fill {
        common::fill(argument)
    }

    fn accumulation_length(&self, _: &Case<GeluTanhAndMul>) -> usize {
        1
    }

    fn tolerance(&self, case: &Case<GeluTanhAndMul>, _: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        common::tolerance(case, dtype, self.accumulation_length(case), inputs)
    }
}
