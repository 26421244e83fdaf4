// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `log_softmax` by `aclnnLogSoftmax` in f32.

use opweave_contract::ops::softmax::{LOG_SOFTMAX, LogSoftmax, LogSoftmaxArgs, LogSoftmaxProblem};
use opweave_tensor::DType;

use super::common;
use crate::operation::{CAST, COPY, DIVIDE, LARGEST, Operation, SUBTRACT, operation};
use crate::program::Program;
use crate::vendor::{Row, Vendor};

operation! {
    /// `out = (x - max) - ln(sum(e^(x - max)))` along a dimension.
    LOG_SOFTMAX_OF_ROWS = "aclnnLogSoftmax"(tensor(0), int, tensor(1))
}

impl Vendor for LogSoftmax {
    const OPERATIONS: &'static [&'static Operation] =
        &[&LOG_SOFTMAX_OF_ROWS, &CAST, &LARGEST, &SUBTRACT, &DIVIDE, &COPY];

    /// The sum whose logarithm is taken has the 1 of the largest logit in it, beside which the others may vanish: the largest
    /// result, near zero, is as good as f32's last place at 1. In f32 the contract asks for no more; in 16 bits, for all of its own.
    fn row() -> Row {
        common::row(&LOG_SOFTMAX, Some(DType::F32))
    }

    fn program(_: &LogSoftmaxProblem, args: &LogSoftmaxArgs, program: &mut Program) {
        common::program(&LOG_SOFTMAX_OF_ROWS, &args.input, &args.out, args.temperature, program);
    }
}
