// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What is computed: every operator in every mode.

use opweave_contract::ops::normalization::*;
use opweave_tensor::DType;

pub(crate) const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    Rms,
    Gemma,
    FusedAdd(Sum),
    FusedAddGemma(Sum),
    Layer,
    L2(L2Form),
    Gated(Gate, GateOrder, usize),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Config {
    pub(crate) op: Op,
    pub(crate) dtype: DType,
    pub(crate) weight: Option<DType>,
    pub(crate) bias: Option<DType>,
    pub(crate) multiply: WeightMultiply,
    pub(crate) epsilon: f32,
}

impl Config {
    pub(crate) fn new(op: Op, dtype: DType) -> Config {
        let weight = if matches!(op, Op::L2(_)) { None } else { Some(dtype) };
        let bias = if op == Op::Layer { Some(dtype) } else { None };
        Config { op, dtype, weight, bias, multiply: WeightMultiply::F32, epsilon: 1e-6 }
    }

    pub(crate) fn groups(&self) -> usize {
        if let Op::Gated(_, _, groups) = self.op { groups } else { 1 }
    }
}

/// Every operator, flag and form, once each.
pub(crate) fn operators() -> Vec<Op> {
    let mut all = vec![
        Op::Rms,
        Op::Gemma,
        Op::FusedAdd(Sum::Unrounded),
        Op::FusedAdd(Sum::Rounded),
        Op::FusedAddGemma(Sum::Unrounded),
        Op::FusedAddGemma(Sum::Rounded),
        Op::Layer,
        Op::L2(L2Form::RsqrtSumEps),
        Op::L2(L2Form::MaxNormEps),
    ];
    for gate in [Gate::Silu, Gate::Sigmoid] {
        for order in [GateOrder::NormThenGate, GateOrder::GateThenNorm] {
            all.push(Op::Gated(gate, order, 1));
        }
    }
    all
}

/// Every combination that the contracts admit: operator, dtype, dtypes of the parameters, numerical mode.
pub(crate) fn configurations() -> Vec<Config> {
    let mut all = Vec::new();
    for op in operators() {
        for dtype in DTYPES {
            let parameters = match op {
                Op::L2(_) => vec![None],
                Op::Gemma | Op::FusedAddGemma(_) => vec![Some(dtype), Some(DType::F32)],
                _ => vec![None, Some(dtype), Some(DType::F32)],
            };
            let modes: &[_] = match op {
                Op::L2(_) | Op::Layer => &[WeightMultiply::F32],
                _ => &[WeightMultiply::F32, WeightMultiply::AfterRounding],
            };
            for &weight in &parameters {
                let biases = if op == Op::Layer { parameters.clone() } else { vec![None] };
                for bias in biases {
                    for &multiply in modes {
                        all.push(Config { weight, bias, multiply, ..Config::new(op, dtype) });
                    }
                }
            }
        }
    }
    all
}
