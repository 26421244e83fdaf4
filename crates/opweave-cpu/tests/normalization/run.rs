// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One call: inputs, kernel, reference, comparison.

use opweave_contract::ops::normalization::*;
use opweave_cpu::normalization::*;
use opweave_cpu::simd::Isa;
use opweave_device::cpu::{Parallel, Serial};
use opweave_reference::ops::normalization as reference;
use opweave_tensor::DType;

use crate::config::{Config, Op};
use crate::tensor::{Place, Tensor};

/// The tensors of one call. `out` is `None` when the result goes to the input's memory.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) config: Config,
    pub(crate) input: Tensor,
    pub(crate) residual: Tensor,
    pub(crate) z: Tensor,
    pub(crate) weight: Option<Tensor>,
    pub(crate) bias: Option<Tensor>,
    pub(crate) out: Option<Tensor>,
}

/// Where each tensor of a call lies.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Places {
    pub(crate) input: Place,
    pub(crate) residual: Place,
    pub(crate) z: Place,
    pub(crate) weight: Place,
    pub(crate) bias: Place,
    pub(crate) out: Place,
}

/// Numbers between -4 and 4 with no pattern, a different sequence for each stream.
pub(crate) fn noise(stream: usize, row: usize, column: usize) -> f64 {
    let mut x = (stream as u64) << 56 ^ (row as u64) << 32 ^ column as u64 ^ 0x9e37_79b9_7f4a_7c15;
    for _ in 0..3 {
        x = (x ^ (x >> 31)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
    (x >> 40) as f64 / f64::from(1 << 21) - 4.0
}

impl Call {
    /// A call on noise.
    pub(crate) fn new(config: Config, rows: usize, width: usize, places: Places) -> Call {
        let tensor = |stream, place| Tensor::new(config.dtype, rows, width, place, |r, c| noise(stream, r, c));
        let columns = |stream, place, dtype: Option<DType>| {
            dtype.map(|dtype| Tensor::new(dtype, 1, width, place, |r, c| noise(stream, r, c)))
        };
        Call {
            config,
            input: tensor(1, places.input),
            residual: tensor(2, places.residual),
            z: tensor(3, places.z),
            weight: columns(4, places.weight, config.weight),
            bias: columns(5, places.bias, config.bias),
            out: Some(Tensor::new(config.dtype, rows, width, places.out, |_, _| f64::NAN)),
        }
    }

    /// The same call with the result in the input's memory.
    pub(crate) fn in_place(self) -> Call {
        Call { out: None, ..self }
    }

    /// The same call with every tensor in memory that ends with it.
    pub(crate) fn tight(self) -> Call {
        let tight = |tensor: Option<Tensor>| tensor.map(|t| t.tight());
        Call {
            input: self.input.tight(),
            residual: self.residual.tight(),
            z: self.z.tight(),
            weight: tight(self.weight),
            bias: tight(self.bias),
            out: tight(self.out),
            ..self
        }
    }

    pub(crate) fn result(&self) -> &Tensor {
        self.out.as_ref().unwrap_or(&self.input)
    }

    pub(crate) fn execute(&mut self, isa: Isa) {
        self.execute_on(isa, &Serial);
    }

    pub(crate) fn execute_on(&mut self, isa: Isa, pool: &dyn Parallel) {
        let Config { op, dtype, multiply, epsilon, .. } = self.config;
        let (rows, width, eps) = (self.input.rows, self.input.width, f64::from(epsilon));
        let input = self.input.rows_view();
        let out = self.out.as_mut().map_or(input, Tensor::rows_view);
        let weight = self.weight.as_ref().map(Tensor::columns);
        let bias = self.bias.as_ref().map(Tensor::columns);
        let (residual, z) = (self.residual.rows_view(), self.z.rows_view());
        let round_normalised = multiply == WeightMultiply::AfterRounding;
        let mut rms = RmsCall {
            rows,
            width,
            dtype,
            input,
            residual: None,
            out,
            weight,
            weight_plus_one: false,
            statistic: Statistic::RootMeanSquare { eps },
            round_normalised,
            round_sum: false,
        };
        // SAFETY: the tensors are alive and apart, of the shapes and dtypes that the call states.
        unsafe {
            match op {
                Op::Rms => rms_norm(isa, pool, &rms),
                Op::Gemma => rms_norm(isa, pool, &RmsCall { weight_plus_one: true, ..rms }),
                Op::FusedAdd(sum) | Op::FusedAddGemma(sum) => {
                    rms.residual = Some(residual);
                    rms.round_sum = sum == Sum::Rounded;
                    rms.weight_plus_one = matches!(op, Op::FusedAddGemma(_));
                    rms_norm(isa, pool, &rms);
                }
                Op::L2(form) => {
                    rms.statistic = match form {
                        L2Form::RsqrtSumEps => Statistic::RootSum { eps },
                        L2Form::MaxNormEps => Statistic::LargerOfNorm { eps },
                    };
                    rms_norm(isa, pool, &rms);
                }
                Op::Layer => layer_norm(isa, pool, &LayerCall { rows, width, dtype, input, out, weight, bias, eps }),
                Op::Gated(gate, order, groups) => {
                    let activation = if gate == Gate::Silu { Activation::Silu } else { Activation::Sigmoid };
                    let place = match order {
                        GateOrder::NormThenGate => GatePlace::AfterNorm,
                        GateOrder::GateThenNorm => GatePlace::BeforeNorm,
                    };
                    let call = GatedCall {
                        rows,
                        width,
                        groups,
                        dtype,
                        input,
                        z,
                        out,
                        weight,
                        eps,
                        activation,
                        place,
                        round_normalised,
                    };
                    rms_norm_gated(isa, pool, &call);
                }
            }
        }
    }

    /// What the reference makes of row `row`: the result, and the residual where the operator writes it.
    pub(crate) fn expected(&self, row: usize) -> (Vec<f64>, Option<Vec<f64>>) {
        let Config { op, dtype, multiply: weight_multiply, epsilon, .. } = self.config;
        let (n, eps) = (self.input.width, f64::from(epsilon));
        let (input, z, mut residual) = (self.input.row(row), self.z.row(row), self.residual.row(row));
        let weight = self.weight.as_ref().map(|w| w.row(0));
        let bias = self.bias.as_ref().map(|b| b.row(0));
        let (weight, bias) = (weight.as_deref(), bias.as_deref());
        let required = weight.unwrap_or_default();
        let mut out = vec![0.0; n];
        let mut writes_residual = false;
        match op {
            Op::Rms => {
                let problem = RmsNormProblem { weight_multiply, ..RmsNormProblem::new(n, dtype) };
                reference::rms_norm::row(&problem, eps, &input, weight, &mut out);
            }
            Op::Gemma => {
                let problem = GemmaRmsNormProblem { weight_multiply, ..GemmaRmsNormProblem::new(n, dtype) };
                reference::gemma_rms_norm::row(&problem, eps, &input, required, &mut out);
            }
            Op::FusedAdd(sum) => {
                let problem = FusedAddRmsNormProblem { weight_multiply, sum, ..FusedAddRmsNormProblem::new(n, dtype) };
                reference::fused_add_rms_norm::row(&problem, eps, &input, weight, &mut residual, &mut out);
                writes_residual = true;
            }
            Op::FusedAddGemma(sum) => {
                let problem =
                    FusedAddGemmaRmsNormProblem { weight_multiply, sum, ..FusedAddGemmaRmsNormProblem::new(n, dtype) };
                reference::fused_add_gemma_rms_norm::row(&problem, eps, &input, required, &mut residual, &mut out);
                writes_residual = true;
            }
            Op::Layer => {
                reference::layer_norm::row(&LayerNormProblem::new(n, dtype), eps, &input, weight, bias, &mut out);
            }
            Op::L2(form) => {
                reference::l2_norm::row(&L2NormProblem { form, ..L2NormProblem::new(n, dtype) }, eps, &input, &mut out);
            }
            Op::Gated(gate, order, groups) => {
                let problem =
                    RmsNormGatedProblem { gate, order, groups, weight_multiply, ..RmsNormGatedProblem::new(n, dtype) };
                reference::rms_norm_gated::row(&problem, eps, &input, &z, weight, &mut out);
            }
        }
        (out, writes_residual.then_some(residual))
    }

    /// Executes the call and compares everything: results, residual, untouched inputs, untouched surroundings.
    pub(crate) fn check(mut self, isa: Isa) {
        let context = (isa.name(), self.config, self.input.rows, self.input.width, self.out.is_none());
        let before = self.clone();
        self.execute(isa);
        let mut score = Score::default();
        for row in 0..self.input.rows {
            let (out, residual) = before.expected(row);
            score.row(self.config, &self.result().row(row), &out, &(row, "out", context));
            match residual {
                // One addition, rounded once: in f32 and in f64 it is the same.
                Some(residual) => assert_rows_equal(&self.residual.row(row), &residual, &(row, "residual", context)),
                None => assert_eq!(self.residual.row(row), before.residual.row(row), "{context:?}"),
            }
        }
        score.finish(&context);
        assert_eq!(self.z.bits(), before.z.bits(), "{context:?}");
        if self.out.is_some() {
            assert_eq!(self.input.bits(), before.input.bits(), "{context:?}");
        }
        let all = [Some(&self.input), Some(&self.residual), Some(&self.z)];
        for tensor in all.into_iter().chain([&self.weight, &self.bias, &self.out].map(Option::as_ref)).flatten() {
            tensor.assert_intact(&context);
        }
    }
}

fn assert_rows_equal(actual: &[f64], expected: &[f64], context: &dyn std::fmt::Debug) {
    for (column, (&a, &e)) in actual.iter().zip(expected).enumerate() {
        assert!(a == e || (a.is_nan() && e.is_nan()), "column {column}: {a} is not {e}: {context:?}");
    }
}

/// How many elements were exact; all of them were close.
#[derive(Default)]
pub(crate) struct Score {
    elements: usize,
    exact: usize,
}

/// Distance from a value to the next one of its dtype.
fn unit(dtype: DType, value: f64) -> f64 {
    let (mantissa, least) = match dtype {
        DType::F32 => (23, -126),
        DType::F16 => (10, -14),
        _ => (7, -126),
    };
    let exponent = if value == 0.0 { least } else { (value.abs().log2().floor() as i32).max(least) };
    2_f64.powi(exponent - mantissa)
}

impl Score {
    /// Every element within its bound, or a panic.
    ///
    /// A narrow output is the f32 value rounded, so it is right or one unit off next to a tie; where an intermediate was
    /// rounded as well, that one unit can become two. An f32 output carries the few roundings of its own computation,
    /// relative to the largest term where terms are added.
    pub(crate) fn row(&mut self, config: Config, actual: &[f64], expected: &[f64], context: &dyn std::fmt::Debug) {
        let size = expected.iter().filter(|e| e.is_finite()).map(|e| e * e).sum::<f64>() / expected.len() as f64;
        let size = size.sqrt();
        for (column, (&a, &e)) in actual.iter().zip(expected).enumerate() {
            self.elements += 1;
            if a == e || (a.is_nan() && e.is_nan()) {
                self.exact += 1;
                continue;
            }
            let units = match (config.dtype, config.multiply) {
                // The gate is itself a division of exponentials.
                (DType::F32, _) if matches!(config.op, Op::Gated(..)) => 8.0,
                (DType::F32, _) => 4.0,
                (_, WeightMultiply::F32) => 1.0,
                (_, WeightMultiply::AfterRounding) => 2.0,
            };
            let adds = matches!(config.op, Op::Layer);
            let bound = units * unit(config.dtype, e) + if adds { 8.0 * unit(DType::F32, size) } else { 0.0 };
            assert!((a - e).abs() <= bound, "column {column}: {a} is not {e} (bound {bound}): {context:?}");
        }
    }

    /// At least 99 in 100 elements of narrow outputs are exact, or a panic; a few elements prove nothing.
    pub(crate) fn finish(&self, context: &(&str, Config, usize, usize, bool)) {
        if context.1.dtype != DType::F32 && self.elements >= 200 {
            assert!(self.exact * 100 >= self.elements * 99, "{} of {} exact: {context:?}", self.exact, self.elements);
        }
    }
}

impl Call {
    /// A call whose rows repeat those of `few`, with bytes copied rather than numbers rounded: for sizes in the hundreds of
    /// megabytes.
    pub(crate) fn large(few: &Call, rows: usize, places: Places) -> Call {
        let repeat = |tensor: &Tensor, place| tensor.repeat(rows, place);
        Call {
            config: few.config,
            input: repeat(&few.input, places.input),
            residual: repeat(&few.residual, places.residual),
            z: repeat(&few.z, places.z),
            weight: few.weight.clone(),
            bias: few.bias.clone(),
            out: few.out.as_ref().map(|out| repeat(out, places.out)),
        }
    }
}
