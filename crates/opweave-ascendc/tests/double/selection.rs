// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What would run on NPUs that are not here, with both NPU solutions, reviewed as text.

use std::fmt::Write as _;
use std::sync::Arc;

use opweave_contract::DynProblem;
use opweave_contract::ops::FAMILIES;
use opweave_contract::ops::activation::{SiluAndMul, SiluAndMulProblem};
use opweave_contract::ops::normalization::{
    FusedAddRmsNorm, FusedAddRmsNormProblem, LayerNorm, LayerNormProblem, RmsNorm, RmsNormProblem,
};
use opweave_contract::ops::quantization::{DynamicQuant, DynamicQuantProblem};
use opweave_contract::ops::rotary::{RotaryEmbedding, RotaryEmbeddingProblem, RotaryStyle};
use opweave_device::DeviceKey;
use opweave_kernels_npu::VARIABLE;
use opweave_registry::{Buckets, ExecutionMode, FrozenRegistry, Reject, Verdict};
use opweave_runtime::{Demands, Environment, Runtime, Solution, explain};
use opweave_tensor::DType;

use crate::images::nominal;
use crate::shared::{double, run, say, without};

const GOLDEN: &str = include_str!("golden/selection.txt");

fn problems() -> Vec<DynProblem> {
    let rotary = RotaryEmbeddingProblem::new(32, 8, 128, 128, DType::BF16);
    vec![
        DynProblem::new::<RmsNorm>(RmsNormProblem::new(4096, DType::F16)),
        DynProblem::new::<RmsNorm>(RmsNormProblem::new(4096, DType::BF16)),
        DynProblem::new::<RmsNorm>(RmsNormProblem { weight_dtype: None, ..RmsNormProblem::new(4096, DType::F32) }),
        DynProblem::new::<FusedAddRmsNorm>(FusedAddRmsNormProblem::new(4096, DType::F32)),
        DynProblem::new::<FusedAddRmsNorm>(FusedAddRmsNormProblem::new(4096, DType::BF16)),
        DynProblem::new::<LayerNorm>(LayerNormProblem::new(4096, DType::F16)),
        DynProblem::new::<SiluAndMul>(SiluAndMulProblem::new(11008, DType::BF16)),
        DynProblem::new::<DynamicQuant>(DynamicQuantProblem {
            output_dtype: DType::I8,
            ..DynamicQuantProblem::new(4096, DType::BF16)
        }),
        DynProblem::new::<DynamicQuant>(DynamicQuantProblem::new(4096, DType::BF16)),
        DynProblem::new::<RotaryEmbedding>(rotary),
        DynProblem::new::<RotaryEmbedding>(RotaryEmbeddingProblem { style: RotaryStyle::Interleaved, ..rotary }),
    ]
}

fn registry() -> Arc<FrozenRegistry> {
    let probe = opweave_device_npu::backend;
    let solutions = [
        Solution { name: "npu.aclnn", register: opweave_aclnn::register, probe },
        Solution { name: "npu.ascendc", register: opweave_ascendc::register, probe },
    ];
    let builder = FAMILIES.iter().fold(Runtime::builder(), |builder, family| builder.declare(family));
    let builder = solutions.into_iter().fold(builder, |builder, solution| builder.solution(solution));
    builder.environment(Environment::default).build().registry().unwrap()
}

fn table() -> String {
    let registry = registry();
    let mut text = String::new();
    for problem in problems() {
        writeln!(text, "{problem}").unwrap();
        for device in ["npu:ascend910b", "npu:ascend910_93", "npu:ascend310p3"] {
            let key: DeviceKey = device.parse().unwrap();
            let (mode, buckets) = (ExecutionMode::Graph, Buckets::none());
            let (operation, asked) = (problem.operation(), Some(&problem));
            for explanation in
                explain(&registry, operation, asked, &buckets, &key, mode, Demands::default(), None, None)
            {
                let runs = explanation.outcome.as_ref().map_or("nothing", |(row, _)| row.as_str());
                writeln!(text, "  {device:<18} {runs}").unwrap();
                for row in explanation.considered.iter().filter(|row| row.name.starts_with("npu.ascendc.")) {
                    if let Verdict::Rejected(reason) = &row.verdict
                        && !matches!(reason, Reject::Device { .. })
                    {
                        writeln!(text, "      {}: {reason}", row.name).unwrap();
                    }
                }
            }
        }
    }
    text
}

#[test]
#[ignore = "run by the other tests, in a process that has the double"]
fn the_table() {
    say(&table());
}

/// `OPWEAVE_GOLDEN=write` writes the table anew, to be read.
#[test]
fn the_golden_table_of_both_npu_solutions() {
    let images = nominal();
    let met = run("selection::the_table", double(), &[(VARIABLE, images.path().to_str().unwrap())]);
    if std::env::var("OPWEAVE_GOLDEN").is_ok_and(|v| v == "write") {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/double/golden/selection.txt"), &met.said).unwrap();
        return;
    }
    assert_eq!(met.said, GOLDEN);
}

/// The row that would run a norm in f16, and why each row of this kind of device would not.
#[test]
#[ignore = "run by the other tests, in a process that has the double"]
fn the_choice() {
    let registry = registry();
    let problem = DynProblem::new::<RmsNorm>(RmsNormProblem::new(4096, DType::F16));
    let key: DeviceKey = "npu:ascend910b".parse().unwrap();
    let (mode, buckets) = (ExecutionMode::Graph, Buckets::none());
    let (operation, asked) = (problem.operation(), Some(&problem));
    let mut text = String::new();
    for explanation in explain(&registry, operation, asked, &buckets, &key, mode, Demands::default(), None, None) {
        let runs = explanation.outcome.as_ref().map_or("nothing", |(row, _)| row.as_str());
        writeln!(text, "runs {runs}").unwrap();
        for row in &explanation.considered {
            if let Verdict::Rejected(reason) = &row.verdict {
                writeln!(text, "{}: {reason}", row.name).unwrap();
            }
        }
    }
    say(&text);
}

/// A42: a row whose image or symbol is not there says so by name, once, and the next one runs.
#[test]
fn a42_where_a_row_is_not_there_the_next_one_runs() {
    let (images, none, lacks) = (nominal(), tempfile::tempdir().unwrap(), without("libopapi.so", "aclnnRmsNorm"));
    let built = "npu.ascendc.rms_norm: the image of `rms_norm` cannot be used: failed to read";
    let symbol = "npu.aclnn.rms_norm: unavailable: symbol `aclnnRmsNorm` is not in library `libopapi`";
    for (home, folder, runs, says) in [
        (double(), images.path(), "npu.ascendc.rms_norm", &[][..]),
        (double(), none.path(), "npu.aclnn.rms_norm", &[built][..]),
        (lacks.path(), images.path(), "npu.ascendc.rms_norm", &[symbol][..]),
        (lacks.path(), none.path(), "nothing", &[built, symbol][..]),
    ] {
        let met = run("selection::the_choice", home, &[(VARIABLE, folder.to_str().unwrap())]);
        assert!(met.said.starts_with(&format!("runs {runs}\n")), "{}", met.said);
        for word in says {
            assert_eq!(met.said.matches(word).count(), 1, "{word}: {}", met.said);
        }
    }
}
