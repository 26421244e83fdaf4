// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the rows of the family share.

use opweave_tensor::{DType, RawTensor};

use crate::operation::{Attributes, operation};
use crate::program::{Operand, Program};

operation! {
    /// `selfRef = 1`.
    ONE = "aclnnInplaceOne"(tensor(0))
}

/// The weight of rows like `input`, which the vendor's operators require: ones where there is none, so that a norm without a weight
/// has the bits of one with a weight of ones.
pub(super) fn weight(
    weight: Option<&RawTensor>,
    input: &RawTensor,
    dtype: DType,
    program: &mut Program,
) -> Option<Operand> {
    if let Some(weight) = weight {
        return program.argument(weight);
    }
    let ones = program.scratch_tensor(input, dtype, &[input.dim(1)]);
    program.push(&ONE, Attributes::default(), &[ones]);
    ones
}
