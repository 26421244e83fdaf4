// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `silu_and_mul` on Ascend NPUs.

use opweave_contract::ops::activation::{SiluAndMul, SiluAndMulArgs, SiluAndMulProblem};
use opweave_device::StreamRef;
use opweave_tensor::DType;

use super::{Call, Product};
use crate::native::Native;

impl Native for SiluAndMul {
    type Tiling = Product;
    type Call = Call;

    fn dtype(problem: &SiluAndMulProblem) -> DType {
        problem.dtype
    }

    fn tiling(problem: &SiluAndMulProblem) -> Product {
        Product::new(problem.intermediate_size, problem.dtype, problem.activation_product)
    }

    #[inline]
    fn call(product: &Product, args: &SiluAndMulArgs, _: StreamRef<'_>) -> Option<(Call, u64)> {
        product.call(&args.input, args.up.as_ref(), &args.out)
    }
}
