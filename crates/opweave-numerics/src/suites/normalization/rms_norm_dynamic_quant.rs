// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `rms_norm_dynamic_quant`.

use opweave_contract::ops::normalization::RmsNormDynamicQuant;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{self, Model, Shape};
use super::quantized;
use crate::compare::Tolerance;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments};

/// vLLM's order, in 8-bit floats and in integers.
const MODELS: &[Model] = &quantized::models(&["weight_multiply=after_rounding"], &["output_dtype=i8"]);

const SHAPE: Shape = quantized::shape(MODELS, Some("rows of zeros without epsilon are NaN"));

const FLOORS: quantized::Floors = [("f8e4m3", 3e-3), ("i8", 3e-3)];

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = RmsNormDynamicQuant;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<RmsNormDynamicQuant>> {
        quantized::cases(&SHAPE, arguments, FLOORS, |case| case.problem.scale_format)
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<RmsNormDynamicQuant>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        common::base()
    }

    fn fill(&self, argument: &str) -> Fill {
        common::fill(argument)
    }

    fn accumulation_length(&self, case: &Case<RmsNormDynamicQuant>) -> usize {
        case.problem.hidden_size
    }

    fn tolerance(&self, case: &Case<RmsNormDynamicQuant>, name: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        quantized::tolerance(case, case.problem.dtype, case.problem.mode, name, dtype, inputs)
    }
}
