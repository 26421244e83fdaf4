// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Root-mean-square normalization with a gate, in groups of columns.

use opweave_contract::ops::normalization::{Gate, GateOrder, RmsNormGated, RmsNormGatedProblem, WeightMultiply};

use super::{column, root_mean_square, weigh};
use crate::{Arguments, Reference, ReferenceError, round};

/// The gate's activation.
fn activate(gate: Gate, z: f64) -> f64 {
    match gate {
        Gate::Silu => z / (1.0 + (-z).exp()),
        Gate::Sigmoid => 1.0 / (1.0 + (-z).exp()),
    }
}

/// One row: `out = norm(input) * weight * gate(z)`, or `out = norm(input * gate(z)) * weight`, each group of columns
/// normalised by itself.
pub fn row(
    problem: &RmsNormGatedProblem,
    epsilon: f64,
    input: &[f64],
    z: &[f64],
    weight: Option<&[f64]>,
    out: &mut [f64],
) {
    // `out` holds what is normalised until it is.
    for (i, v) in out.iter_mut().enumerate() {
        *v = match problem.order {
            GateOrder::NormThenGate => input[i],
            GateOrder::GateThenNorm => input[i] * activate(problem.gate, z[i]),
        };
    }
    let width = input.len() / problem.groups;
    for (group, out) in out.chunks_mut(width).enumerate() {
        let divisor = root_mean_square(out, epsilon);
        for (i, out) in out.iter_mut().enumerate() {
            let i = group * width + i;
            let y = weigh(problem.weight_multiply, problem.dtype, *out / divisor, column(weight, i, 1.0));
            let y = match (problem.order, problem.weight_multiply) {
                (GateOrder::GateThenNorm, _) => y,
                (GateOrder::NormThenGate, WeightMultiply::F32) => y * activate(problem.gate, z[i]),
                (GateOrder::NormThenGate, WeightMultiply::AfterRounding) => {
                    round(problem.dtype, y) * activate(problem.gate, z[i])
                }
            };
            *out = round(problem.dtype, y);
        }
    }
}

impl Reference for RmsNormGated {
    fn reference(problem: &RmsNormGatedProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let width = problem.hidden_size;
        let mut out = arguments.take("out")?;
        let input = arguments.exactly("input", out.data.len())?;
        let z = arguments.exactly("z", out.data.len())?;
        let weight = arguments.optional("weight", width)?;
        let epsilon = arguments.scalar("epsilon")?;
        for ((input, z), out) in input.chunks(width).zip(z.chunks(width)).zip(out.data.chunks_mut(width)) {
            row(problem, epsilon, input, z, weight, out);
        }
        arguments.put("out", out);
        Ok(())
    }
}
