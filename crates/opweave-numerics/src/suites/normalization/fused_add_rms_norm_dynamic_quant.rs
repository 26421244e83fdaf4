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

/// vLLM's order, in 8-bit floats and in integers.
const MODELS: &[Model] =
    &quantized::models(&["sum=rounded", "weight_multiply=after_rounding"], &["sum=rounded", "output_dtype=i8"]);

const SHAPE: Shape = quantized::shape(MODELS, None);

/// A norm's largest value is about 3, above in some rows and below in others.
const FLOORS: quantized::Floors = [("f8e4m3", 3.0 / 448.0), ("i8", 3.0 / 127.0)];

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = FusedAddRmsNormDynamicQuant;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<FusedAddRmsNormDynamicQuant>> {
        quantized::cases(&SHAPE, arguments, FLOORS, |case| case.problem.scale_format)
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
