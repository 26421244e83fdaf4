// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! An operator that uses what the families do not use yet: a packed weight, a host argument, optional outputs, a size of
//! `batch + 1`, a dimension that may not be zero, relations, faults.

use opweave_contract::{Cost, Legal, NumericalMode, OpContract, Relation, Saturation, ScalarRange, choice, operator};
use opweave_tensor::DType;

choice! {
    /// A flag of several words.
    pub(crate) enum Side {
        /// One.
        Left = "left",
        /// The other.
        Right = "right",
    }
}

const fn contract(name: &'static str) -> OpContract {
    OpContract {
        operation: "probe",
        version: 1,
        mutates: &["state"],
        aliases: &[("out", "input")],
        numerical_mode: NumericalMode {
            name,
            accumulation: DType::F32,
            roundings: &[],
            weight_multiply: None,
            saturation: Saturation::Finite,
        },
    }
}

/// The mode of the left side.
pub(crate) static LEFT: OpContract = contract("side=left");
/// The mode of the right side.
pub(crate) static RIGHT: OpContract = contract("side=right");

operator! {
    /// Computes nothing; it is asked about its arguments.
    pub(crate) Probe = "probe";
    problem ProbeProblem {
        required {
            /// Columns of `input`.
            width: usize => Legal::Range(1, 4096);
            /// Heads.
            heads: usize => Legal::Ints(&[2, 4, 8]);
            /// dtype of `input` and `out`.
            dtype: DType => Legal::DTypes(&[DType::F32, DType::BF16, DType::F8E4M3]);
        }
        optional {
            /// dtype of `scale`.
            scale_dtype: Option<DType> = None => Legal::DTypes(&[DType::F32]);
            /// dtype of `log`.
            log_dtype: Option<DType> = Some(DType::F32) => Legal::DTypes(&[DType::F32]);
            /// Which side.
            side: Side = Side::Left => Legal::Any;
            /// A flag.
            causal: bool = false => Legal::Any;
            /// A window.
            window: Option<usize> = None => Legal::Range(1, 4096);
        }
        relations [Relation::Divides("width", "heads"), Relation::AtMost("window", "width")]
    }
    dims {
        /// Rows.
        tokens >= 0;
        /// Sequences.
        batch >= 1;
    }
    args ProbeArgs {
        tensors {
            /// Rows.
            input: In [tokens strided, width] of dtype;
            /// The weight.
            weight: Packed [width, width] of dtype;
            /// Offsets of the sequences.
            indptr: In [(batch + 1)] of DType::I32;
            /// Lengths on the host.
            lengths: Host [batch] of DType::I32;
            /// A scale of each column.
            scale: OptionalIn [width] of scale_dtype;
            /// One state of each sequence.
            state: InOut [batch strided, heads free, (width / heads)] of DType::F32;
            /// The result.
            out: Out [tokens strided, width] aliases [input] of dtype;
            /// A logarithm of each row and head.
            log: OptionalOut [tokens strided, heads] of log_dtype;
        }
        scalars {
            /// A positive factor.
            factor: f32 = 1.0 => ScalarRange::POSITIVE;
            /// A count.
            limit: u32 = 3.0 => ScalarRange { min: 1.0, max: 7.0, above: false };
        }
    }
    faults ["length outside the table"]
    contracts [&LEFT, &RIGHT] by |problem| match problem.side {
        Side::Left => &LEFT,
        Side::Right => &RIGHT,
    };
    cost |problem, specs, dims| Cost::streaming(specs, dims, (2 * dims.get(0) * problem.width) as u64);
}
