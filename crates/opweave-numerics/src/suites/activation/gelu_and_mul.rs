// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `gelu_and_mul`.

use opweave_contract::ops::activation::GeluAndMul;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, Model};
use crate::compare::Tolerance;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments};

/// Feed-forward layers of public models: name, width, dtype.
const MODELS: &[Model] = &[
    ("modernbert_large", 2624, "bf16"),
    ("modernbert_base", 1152, "bf16"),
    ("jina_embeddings_v2_base", 3072, "f16"),
    ("gte_large_v1_5", 4096, "f16"),
    ("stable_diffusion_xl_1280", 5120, "f16"),
];

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = GeluAndMul;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<GeluAndMul>> {
        common::cases(MODELS, arguments)
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<GeluAndMul>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        common::base()
    }

    fn fill(&self, argument: &str) -> Fill {
        common::fill(argument)
    }

    fn accumulation_length(&self, _: &Case<GeluAndMul>) -> usize {
        1
    }

    fn tolerance(&self, case: &Case<GeluAndMul>, _: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        common::tolerance(case, dtype, self.accumulation_length(case), inputs)
    }
}
