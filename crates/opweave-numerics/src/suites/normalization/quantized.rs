// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the suites of norms that end in codes share.

use opweave_contract::Operator;
use opweave_contract::ops::normalization::QuantMode;
use opweave_contract::ops::quantization::ScaleFormat;
use opweave_reference::{Arguments, Reference};
use opweave_tensor::DType;

use super::common::{self, Model, Shape};
use crate::compare::{Computation, Rule, Tolerance};
use crate::input::Grade;
use crate::suite::{Case, Fill, SuiteArguments};

/// A least scale for each dtype of codes.
pub(super) type Floors = [(&'static str, f64); 2];

/// Rows of public models, with these facts where they are served in 8 bits, by vLLM: floats, and integers.
pub(super) const fn models(floats: &'static [&'static str], integers: &'static [&'static str]) -> [Model; 6] {
    [
        model("llama3_8b", 4096, floats, 1e-5),
        model("qwen2_5_7b", 3584, integers, 1e-6),
        model("mistral_7b", 4096, &[], 1e-5),
        model("deepseek_v3", 7168, floats, 1e-6),
        model("llama3_405b", 16384, floats, 1e-5),
        model("smollm2_135m", 576, &["mode=f32"], 1e-5),
    ]
}

const fn model(name: &'static str, hidden_size: usize, facts: &'static [&'static str], epsilon: f64) -> Model {
    Model { name, hidden_size, dtype: "bf16", facts, epsilon, rows: 1 }
}

pub(super) const fn shape(models: &'static [Model], zero_rows: Option<&'static str>) -> Shape {
    Shape {
        models,
        alias: None,
        single: "a row of one element has the largest code, and its norm is the weight",
        zero_rows,
        flat_rows: None,
        other: None,
    }
}

/// The family's cases, wide rows and least scales; `format` is the problem's fact of that name.
pub(super) fn cases<O: Operator>(
    shape: &Shape,
    arguments: &SuiteArguments,
    least: Floors,
    format: fn(&Case<O>) -> ScaleFormat,
) -> Vec<Case<O>> {
    let cases = common::cases(shape, arguments, wide_rows().into_iter().chain(floors(least)));
    cases.into_iter().map(|case| may_be_constant(case, format)).collect()
}

/// Rows of more columns than are normalised at once, also where f32 cannot hold their squares.
fn wide_rows<O: Operator>() -> Vec<Case<O>> {
    let mut cases = Vec::new();
    for dtype in common::DTYPES {
        for (mode, width) in [("composed", 8192), ("composed", 8193), ("composed", 20_001), ("f32", 20_001)] {
            let mut facts = common::facts(width, dtype);
            facts.push(format!("mode={mode}"));
            let of = |word: &str| common::case::<O>(format!("t3_h{width}_{dtype}_{mode}{word}"), &facts, 3);
            cases.extend(of(""));
            if dtype != "f16" {
                let huge = Fill::Function(|row, column| 3e38 * common::wave(row, column));
                cases.extend(of("_huge").map(|case| case.fill("input", huge)));
            }
        }
    }
    cases
}

/// A least scale above that of some rows, and the whole range of i8.
fn floors<O: Operator>(least: Floors) -> Vec<Case<O>> {
    let mut cases = Vec::new();
    for dtype in common::DTYPES {
        for (codes, floor) in least {
            let mut facts = common::facts(200, dtype);
            facts.extend([format!("output_dtype={codes}"), "i8_range=128".to_owned()]);
            let case = common::case::<O>(format!("t8_h200_{dtype}_{codes}_floor"), &facts, 8);
            let input = Fill::Function(|row, column| common::wave(row, column) * 10_f64.powi(row as i32 - 6));
            cases.extend(case.map(|case| case.fill("input", input).scalar("scale_floor", floor)));
        }
    }
    cases
}

/// The tolerance of an output.
///
/// With `mode=composed`, the norm is rounded as the norm alone would be, so that almost all scales are exact; where the
/// largest element is one number off, the scale is off by as much. Codes may be one off, few of them.
pub(super) fn tolerance<O: Reference>(
    case: &Case<O>,
    activation: DType,
    mode: QuantMode,
    name: &str,
    dtype: DType,
    inputs: &Arguments,
) -> Tolerance {
    let length = inputs.get("input").and_then(|v| v.shape.last().copied()).unwrap_or(1);
    let exact = Tolerance::of(Computation::Exact, dtype);
    match (name, dtype) {
        ("out", DType::I8) => Tolerance::of(Computation::Steps(1), dtype),
        ("out", _) => {
            // Small integers are divided by each other, so that many quotients lie on ties.
            let exact_fraction = if case.grade == Some(Grade::Exact) { 0.7 } else { 0.95 };
            Tolerance { rule: Rule::Rounded { max_ulp: 1, exact_fraction, slack: 0.0 }, ..exact }
        }
        ("scale", DType::F32) if mode == QuantMode::Composed && activation != DType::F32 => {
            // Numbers of f32 from one number of the activation's dtype to the next.
            let step = if activation == DType::F16 { 1 << 13 } else { 1 << 16 };
            Tolerance { rule: Rule::Rounded { max_ulp: 2 * step, exact_fraction: 0.9, slack: 0.0 }, ..exact }
        }
        ("scale", DType::F8E8M0) => exact,
        _ => common::tolerance(case, dtype, length, inputs),
    }
}

/// Says of a case why all its scales may be equal.
fn may_be_constant<O: Operator>(case: Case<O>, format: fn(&Case<O>) -> ScaleFormat) -> Case<O> {
    match (format(&case), case.grade) {
        (ScaleFormat::PowerOfTwo, _) => case.constant("norms are alike, and so are the powers of two above them"),
        (_, Some(Grade::Special)) => case.constant("a NaN among the weights makes every row NaN"),
        _ => case,
    }
}
