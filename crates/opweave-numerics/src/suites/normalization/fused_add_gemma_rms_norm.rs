// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `fused_add_gemma_rms_norm`.

use opweave_contract::ops::normalization::FusedAddGemmaRmsNorm;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, Shape};
use super::{fused_add_rms_norm, gemma_rms_norm};
use crate::compare::Tolerance;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments};

const SHAPE: Shape = Shape { models: gemma_rms_norm::MODELS, ..fused_add_rms_norm::SHAPE };

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = FusedAddGemmaRmsNorm;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<FusedAddGemmaRmsNorm>> {
        common::cases(&SHAPE, arguments, [])
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<FusedAddGemmaRmsNorm>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        common::base()
    }

    fn fill(&self, argument: &str) -> Fill {
        gemma_rms_norm::fill(argument)
    }

    fn accumulation_length(&self, case: &Case<FusedAddGemmaRmsNorm>) -> usize {
        case.problem.hidden_size
    }

    fn tolerance(&self, case: &Case<FusedAddGemmaRmsNorm>, _: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        common::tolerance(case, dtype, self.accumulation_length(case), inputs)
    }
}
