// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `softmax` by `aclnnSoftmax` in f32.

use opweave_contract::ops::softmax::{SOFTMAX, Softmax, SoftmaxArgs, SoftmaxProblem};

use super::common;
use crate::operation::{CAST, COPY, DIVIDE, LARGEST, Operation, SUBTRACT, operation};
use crate::program::Program;
use crate::vendor::{Row, Vendor};

operation! {
    /// `out = e^(x - max) / sum(e^(x - max))` along a dimension.
    SOFTMAX_OF_ROWS = "aclnnSoftmax"(tensor(0), int, tensor(1))
}

impl Vendor for Softmax {
    const OPERATIONS: &'static [&'static Operation] = &[&SOFTMAX_OF_ROWS, &CAST, &LARGEST, &SUBTRACT, &DIVIDE, &COPY];

    fn row() -> Row {
        common::row(&SOFTMAX, None)
    }

    fn program(_: &SoftmaxProblem, args: &SoftmaxArgs, program: &mut Program) {
        common::program(&SOFTMAX_OF_ROWS, &args.input, &args.out, args.temperature, program);
    }
}
