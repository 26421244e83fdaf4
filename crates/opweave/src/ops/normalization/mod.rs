// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The normalization family.

mod fused_add_gemma_rms_norm;
mod fused_add_rms_norm;
mod fused_add_rms_norm_dynamic_quant;
mod gemma_rms_norm;
mod l2_norm;
mod layer_norm;
mod rms_norm;
mod rms_norm_dynamic_quant;
mod rms_norm_gated;

pub use fused_add_gemma_rms_norm::fused_add_gemma_rms_norm;
pub use fused_add_rms_norm::fused_add_rms_norm;
pub use fused_add_rms_norm_dynamic_quant::fused_add_rms_norm_dynamic_quant;
pub use gemma_rms_norm::gemma_rms_norm;
pub use l2_norm::l2_norm;
pub use layer_norm::layer_norm;
pub use rms_norm::rms_norm;
pub use rms_norm_dynamic_quant::rms_norm_dynamic_quant;
pub use rms_norm_gated::rms_norm_gated;

pub use opweave_contract::ops::normalization::{
    FusedAddGemmaRmsNorm, FusedAddGemmaRmsNormArgs, FusedAddGemmaRmsNormProblem, FusedAddRmsNorm, FusedAddRmsNormArgs,
    FusedAddRmsNormDynamicQuant, FusedAddRmsNormDynamicQuantArgs, FusedAddRmsNormDynamicQuantProblem,
    FusedAddRmsNormProblem, Gate, GateOrder, GemmaRmsNorm, GemmaRmsNormArgs, GemmaRmsNormProblem, L2Form, L2Norm,
    L2NormArgs, L2NormProblem, LayerNorm, LayerNormArgs, LayerNormProblem, QuantMode, RmsNorm, RmsNormArgs,
    RmsNormDynamicQuant, RmsNormDynamicQuantArgs, RmsNormDynamicQuantProblem, RmsNormGated, RmsNormGatedArgs,
    RmsNormGatedProblem, RmsNormProblem, Sum, WeightMultiply,
};
