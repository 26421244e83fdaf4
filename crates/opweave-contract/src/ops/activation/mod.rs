// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Gated activations of feed-forward layers: one half of a row through an activation, times the other half.

/// The operators of this family: the one list that a further one joins.
#[doc(hidden)]
#[macro_export]
macro_rules! activation_operators {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*] activation:
            silu_and_mul: SiluAndMul,
            gelu_and_mul: GeluAndMul,
            gelu_tanh_and_mul: GeluTanhAndMul,
        }
    };
}

activation_operators!(family);

use opweave_tensor::DType;

use crate::{ArgSpecs, Cost, DynDims, Legal, NumericalMode, OpContract, RoundTo, Rounding, Saturation, choice};

/// Row widths: twice as many elements still fit 32 bits.
pub const WIDTHS: Legal = Legal::Range(1, 1 << 30);

choice! {
    /// Where the two halves stand.
    pub enum Halves {
        /// In one row, the gate first: what one projection for both leaves (vLLM, FlashInfer).
        Packed = "packed",
        /// In a tensor each: what two projections leave (Transformers, llama.cpp).
        Separate = "separate",
    }
}

impl Halves {
    /// Columns of `input` where the result has `width`.
    pub const fn columns(self, width: usize) -> usize {
        match self {
            Halves::Packed => width.saturating_mul(2),
            Halves::Separate => width,
        }
    }

    /// The dtype of `up`, if there is such a tensor.
    pub const fn up(self, dtype: DType) -> Option<DType> {
        match self {
            Halves::Packed => None,
            Halves::Separate => Some(dtype),
        }
    }
}

choice! {
    /// What the product sees of the activation.
    pub enum ActivationProduct {
        /// Its f32 value, so that there is one rounding (FlashInfer, TensorRT-LLM).
        F32 = "f32",
        /// Its value rounded to the dtype (vLLM, Transformers).
        RoundedActivation = "rounded_activation",
    }
}

/// The rounding that `activation_product=rounded_activation` adds.
const ACTIVATION_ROUNDING: Rounding = Rounding { value: "activation", to: RoundTo::Activation };

/// The contract of a gated activation.
const fn contract(operation: &'static str, product: ActivationProduct) -> OpContract {
    let (name, roundings): (_, &[Rounding]) = match product {
        ActivationProduct::F32 => ("activation_product=f32", &[]),
        ActivationProduct::RoundedActivation => ("activation_product=rounded_activation", &[ACTIVATION_ROUNDING]),
    };
    let numerical_mode = NumericalMode {
        name,
        accumulation: DType::F32,
        roundings,
        weight_multiply: None,
        saturation: Saturation::None,
    };
    OpContract { operation, version: 1, mutates: &[], aliases: &[], numerical_mode }
}

/// What a gated activation takes: about ten operations for each element of the result.
fn cost(specs: &ArgSpecs, dims: &DynDims, width: usize) -> Cost {
    Cost::streaming(specs, dims, 10 * (dims.get(0) * width) as u64)
}
