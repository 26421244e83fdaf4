// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `log_softmax`.

use opweave_contract::ops::softmax::LogSoftmax;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common;
use crate::compare::Tolerance;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments};

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = LogSoftmax;

    fn arguments(&self) -> &'static [SuiteArgument] {
        common::ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<LogSoftmax>> {
        common::cases(arguments)
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<LogSoftmax>> {
        common::bench_cases()
    }

    fn base(&self) -> Vec<String> {
        common::base()
    }

    fn fill(&self, _: &str) -> Fill {
        Fill::about(0.0, 4.0)
    }

    fn accumulation_length(&self, case: &Case<LogSoftmax>) -> usize {
        case.problem.width
    }

    fn tolerance(&self, case: &Case<LogSoftmax>, _: &str, dtype: DType, _: &Arguments) -> Tolerance {
        common::tolerance(case, dtype, self.accumulation_length(case))
    }
}
