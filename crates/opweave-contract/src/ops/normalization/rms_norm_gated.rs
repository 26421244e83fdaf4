// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Root-mean-square normalization with a gate, in groups of columns.

use opweave_tensor::DType;

use super::{ACTIVATIONS, NORMALISED_ROUNDING, WEIGHTED_ROUNDING, WIDTHS, WeightMultiply, mode};
use crate::{
    Cost, Erased, ImplementationDecl, Legal, MultiplyIn, OpContract, OperationDecl, Relation, ScalarRange, choice,
    operator,
};

choice! {
    /// The activation of a gate.
    pub enum Gate {
        /// `z * sigmoid(z)`.
        Silu = "silu",
        /// `1 / (1 + exp(-z))`.
        Sigmoid = "sigmoid",
    }
}

choice! {
    /// Whether the gate multiplies the normalised value or what is normalised.
    pub enum GateOrder {
        /// `norm(input) * weight * gate(z)` (Qwen3-Next).
        NormThenGate = "norm_then_gate",
        /// `norm(input * gate(z)) * weight` (Mamba2).
        GateThenNorm = "gate_then_norm",
    }
}

/// `rms_norm_gated`: normalised, then gated, one rounding.
pub static RMS_NORM_GATED_NORM_THEN_GATE: OpContract = OpContract {
    operation: "rms_norm_gated",
    version: 1,
    mutates: &[],
    aliases: &[("out", "input")],
    numerical_mode: mode("order=norm_then_gate weight_multiply=f32", &[], Some(MultiplyIn::F32)),
};

/// `rms_norm_gated`: normalised, rounded, weighted, rounded, then gated in f32.
pub static RMS_NORM_GATED_NORM_THEN_GATE_AFTER_ROUNDING: OpContract = OpContract {
    numerical_mode: mode(
        "order=norm_then_gate weight_multiply=after_rounding",
        &[NORMALISED_ROUNDING, WEIGHTED_ROUNDING],
        Some(MultiplyIn::Activation),
    ),
    ..RMS_NORM_GATED_NORM_THEN_GATE
};

/// `rms_norm_gated`: gated, then normalised, one rounding.
pub static RMS_NORM_GATED_GATE_THEN_NORM: OpContract = OpContract {
    numerical_mode: mode("order=gate_then_norm weight_multiply=f32", &[], Some(MultiplyIn::F32)),
    ..RMS_NORM_GATED_NORM_THEN_GATE
};

/// `rms_norm_gated`: gated in f32, normalised, rounded, then weighted.
pub static RMS_NORM_GATED_GATE_THEN_NORM_AFTER_ROUNDING: OpContract = OpContract {
    numerical_mode: mode(
        "order=gate_then_norm weight_multiply=after_rounding",
        &[NORMALISED_ROUNDING],
        Some(MultiplyIn::Activation),
    ),
    ..RMS_NORM_GATED_NORM_THEN_GATE
};

operator! {
    /// `out = norm(input) * weight * gate(z)`, or `out = norm(input * gate(z)) * weight`, row by row, where
    /// `norm(v) = v * rsqrt(mean(v^2) + epsilon)` is taken over each of `groups` equal groups of columns.
    ///
    /// The gate and its product are computed in f32 in every mode.
    ///
    /// Dao and Gu, "Transformers are SSMs", 2024 (Mamba2), and the published model code of Qwen3-Next.
    pub RmsNormGated = "rms_norm_gated";
    problem RmsNormGatedProblem {
        required {
            /// Elements of a row.
            hidden_size: usize => WIDTHS;
            /// dtype of `input`, `z` and `out`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// dtype of `weight`: that of the activation or f32; none for a weight of ones.
            weight_dtype: Option<DType> = Some(dtype) => Legal::DTypes(ACTIVATIONS);
            /// The activation of the gate.
            gate: Gate = Gate::Silu => Legal::Any;
            /// What the gate multiplies.
            order: GateOrder = GateOrder::NormThenGate => Legal::Any;
            /// Groups of columns, each normalised by itself.
            groups: usize = 1 => WIDTHS;
            /// Where the weight is multiplied.
            weight_multiply: WeightMultiply = WeightMultiply::F32 => Legal::Any;
        }
        relations [
            Relation::SameOr("weight_dtype", "dtype", &[DType::F32]),
            Relation::Divides("hidden_size", "groups"),
        ]
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args RmsNormGatedArgs {
        tensors {
            /// What is normalised.
            input: In [tokens strided, hidden_size] of dtype;
            /// The gate before its activation.
            z: In [tokens strided, hidden_size] of dtype;
            /// Scale of each column.
            weight: OptionalIn [hidden_size] of weight_dtype;
            /// The result.
            out: Out [tokens strided, hidden_size] aliases [input] of dtype;
        }
        scalars {
            /// Added to the mean of squares.
            epsilon: f32 = 1e-5 => ScalarRange::NON_NEGATIVE;
        }
    }
    faults []
    contracts [
        &RMS_NORM_GATED_NORM_THEN_GATE,
        &RMS_NORM_GATED_NORM_THEN_GATE_AFTER_ROUNDING,
        &RMS_NORM_GATED_GATE_THEN_NORM,
        &RMS_NORM_GATED_GATE_THEN_NORM_AFTER_ROUNDING,
    ] by |problem| match (problem.order, problem.weight_multiply) {
        (GateOrder::NormThenGate, WeightMultiply::F32) => &RMS_NORM_GATED_NORM_THEN_GATE,
        (GateOrder::NormThenGate, WeightMultiply::AfterRounding) => &RMS_NORM_GATED_NORM_THEN_GATE_AFTER_ROUNDING,
        (GateOrder::GateThenNorm, WeightMultiply::F32) => &RMS_NORM_GATED_GATE_THEN_NORM,
        (GateOrder::GateThenNorm, WeightMultiply::AfterRounding) => &RMS_NORM_GATED_GATE_THEN_NORM_AFTER_ROUNDING,
    };
    cost |problem, specs, dims| Cost::streaming(specs, dims, 9 * (dims.get(0) * problem.hidden_size) as u64);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<RmsNormGated>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.rms_norm_gated.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.rms_norm_gated.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.rms_norm_gated.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.rms_norm_gated", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.rms_norm_gated", solution: "cuda.native", libraries: &[] },
    ],
);
