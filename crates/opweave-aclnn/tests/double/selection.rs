// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What would run on NPUs that are not here, reviewed as text, and what a machine without CANN is told.

use std::fmt::Write as _;

use opweave_contract::DynProblem;
use opweave_contract::ops::activation::{
    ActivationProduct, GeluTanhAndMul, GeluTanhAndMulProblem, Halves, SiluAndMul, SiluAndMulProblem,
};
use opweave_contract::ops::embedding::{Embedding, EmbeddingProblem};
use opweave_contract::ops::kv_cache::{CacheFormat, ReshapePagedCache, ReshapePagedCacheProblem};
use opweave_contract::ops::linear::{Linear, LinearActivation, LinearProblem, WeightForm};
use opweave_contract::ops::normalization::{
    FusedAddRmsNorm, FusedAddRmsNormProblem, LayerNorm, LayerNormProblem, RmsNorm, RmsNormProblem, Sum, WeightMultiply,
};
use opweave_contract::ops::rotary::{Products, RotaryEmbedding, RotaryEmbeddingProblem};
use opweave_contract::ops::sampling::{Argmax, ArgmaxProblem, NanOrder};
use opweave_contract::ops::softmax::{LogSoftmax, LogSoftmaxProblem, Softmax, SoftmaxProblem};
use opweave_device::{BackendState, DeviceKey};
use opweave_device_npu::{Cann, LoadError, Places};
use opweave_registry::{Buckets, ExecutionMode, Reject, Verdict};
use opweave_runtime::{Demands, explain};
use opweave_tensor::DType;

use crate::script::runtime;

fn problems() -> Vec<DynProblem> {
    let norm = |dtype, weight| RmsNormProblem { weight_dtype: weight, ..RmsNormProblem::new(4096, dtype) };
    let add = |sum, weight_multiply| FusedAddRmsNormProblem {
        sum,
        weight_multiply,
        ..FusedAddRmsNormProblem::new(4096, DType::F16)
    };
    let layer = |weight, bias| LayerNormProblem {
        weight_dtype: weight,
        bias_dtype: bias,
        ..LayerNormProblem::new(4096, DType::F16)
    };
    let silu = |dtype, halves| SiluAndMulProblem { halves, ..SiluAndMulProblem::new(11008, dtype) };
    let gelu = |dtype, activation_product| GeluTanhAndMulProblem {
        activation_product,
        ..GeluTanhAndMulProblem::new(11008, dtype)
    };
    let linear = |dtype, bias_dtype| LinearProblem { bias_dtype, ..LinearProblem::new(4096, 11008, dtype) };
    let rotary = |products, cache_dtype| RotaryEmbeddingProblem {
        products,
        cache_dtype,
        ..RotaryEmbeddingProblem::new(32, 8, 128, 64, DType::BF16)
    };
    let embedding = |id_dtype| EmbeddingProblem { id_dtype, ..EmbeddingProblem::new(128_256, 4096, DType::BF16) };
    let cache = |cache_format| ReshapePagedCacheProblem {
        cache_format,
        ..ReshapePagedCacheProblem::new(8, 128, 16, DType::BF16)
    };
    let (f16, f32) = (Some(DType::F16), Some(DType::F32));
    vec![
        DynProblem::new::<RmsNorm>(norm(DType::F16, f16)),
        DynProblem::new::<RmsNorm>(norm(DType::F16, f32)),
        DynProblem::new::<RmsNorm>(norm(DType::F16, None)),
        DynProblem::new::<RmsNorm>(norm(DType::BF16, Some(DType::BF16))),
        DynProblem::new::<RmsNorm>(RmsNormProblem {
            weight_multiply: WeightMultiply::AfterRounding,
            ..norm(DType::F16, f16)
        }),
        DynProblem::new::<FusedAddRmsNorm>(add(Sum::Rounded, WeightMultiply::AfterRounding)),
        DynProblem::new::<FusedAddRmsNorm>(add(Sum::Unrounded, WeightMultiply::F32)),
        DynProblem::new::<LayerNorm>(layer(f16, f16)),
        DynProblem::new::<LayerNorm>(layer(f32, f16)),
        DynProblem::new::<SiluAndMul>(silu(DType::F16, Halves::Packed)),
        DynProblem::new::<SiluAndMul>(silu(DType::BF16, Halves::Separate)),
        DynProblem::new::<GeluTanhAndMul>(gelu(DType::BF16, ActivationProduct::F32)),
        DynProblem::new::<GeluTanhAndMul>(gelu(DType::F16, ActivationProduct::RoundedActivation)),
        DynProblem::new::<GeluTanhAndMul>(gelu(DType::F16, ActivationProduct::F32)),
        DynProblem::new::<Softmax>(SoftmaxProblem::new(32000, DType::BF16)),
        DynProblem::new::<LogSoftmax>(LogSoftmaxProblem {
            out_dtype: DType::F32,
            ..LogSoftmaxProblem::new(32000, DType::BF16)
        }),
        DynProblem::new::<LogSoftmax>(LogSoftmaxProblem::new(32000, DType::BF16)),
        DynProblem::new::<Linear>(linear(DType::BF16, None)),
        DynProblem::new::<Linear>(LinearProblem { weight_form: WeightForm::Plain, ..linear(DType::F16, None) }),
        DynProblem::new::<Linear>(linear(DType::F32, f32)),
        DynProblem::new::<Linear>(linear(DType::BF16, Some(DType::BF16))),
        DynProblem::new::<Linear>(LinearProblem { activation: LinearActivation::Silu, ..linear(DType::BF16, None) }),
        DynProblem::new::<Embedding>(embedding(DType::I64)),
        DynProblem::new::<Embedding>(embedding(DType::U32)),
        DynProblem::new::<RotaryEmbedding>(rotary(Products::F32, DType::BF16)),
        DynProblem::new::<RotaryEmbedding>(rotary(Products::F32, DType::F32)),
        DynProblem::new::<RotaryEmbedding>(rotary(Products::Rounded, DType::BF16)),
        DynProblem::new::<Argmax>(ArgmaxProblem::new(128_256, DType::BF16)),
        DynProblem::new::<Argmax>(ArgmaxProblem {
            valid_size: Some(151_665),
            index_dtype: DType::U32,
            nan: NanOrder::First,
            ..ArgmaxProblem::new(152_064, DType::F32)
        }),
        DynProblem::new::<ReshapePagedCache>(cache(CacheFormat::Plain)),
        DynProblem::new::<ReshapePagedCache>(cache(CacheFormat::F8PerTensor)),
    ]
}

const GOLDEN: &str = include_str!("golden/selection.txt");

/// `OPWEAVE_GOLDEN=write` writes the table anew, to be read.
#[test]
fn the_golden_table_of_npus() {
    let registry = runtime().registry().unwrap();
    let mut text = String::new();
    for problem in problems() {
        writeln!(text, "{problem}").unwrap();
        for device in ["npu:ascend910b", "npu:ascend910_93"] {
            let key: DeviceKey = device.parse().unwrap();
            let (mode, buckets) = (ExecutionMode::Graph, Buckets::none());
            let operation = problem.operation();
            let all =
                explain(&registry, operation, Some(&problem), &buckets, &key, mode, Demands::default(), None, None);
            for explanation in all {
                let runs = explanation.outcome.as_ref().map_or("nothing", |(row, _)| row.as_str());
                writeln!(text, "  {device:<18} {runs}").unwrap();
                for row in &explanation.considered {
                    if let Verdict::Rejected(reason) = &row.verdict
                        && !matches!(reason, Reject::Device { .. })
                    {
                        writeln!(text, "      {}: {reason}", row.name).unwrap();
                    }
                }
            }
        }
    }
    if std::env::var("OPWEAVE_GOLDEN").is_ok_and(|v| v == "write") {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/double/golden/selection.txt"), &text).unwrap();
        return;
    }
    assert_eq!(text, GOLDEN);
}

/// A machine without CANN: the answer names every place, and looking for it changed no variable of the process.
#[test]
fn b15_without_cann_the_answer_names_the_places_and_nothing_has_changed() {
    let before: Vec<_> = std::env::vars_os().collect();
    let places = Places::of(|name| (name == "ASCEND_HOME_PATH").then(|| "/nowhere/cann".into()));
    match Cann::load(&places).map(|_| ()) {
        Err(LoadError::Absent { library, places }) => {
            assert_eq!(library, "libascendcl.so");
            for place in
                ["/nowhere/cann/lib64", "the system's search path", "/usr/local/Ascend/ascend-toolkit/latest/lib64"]
            {
                assert!(places.contains(place), "{place} is not in: {places}");
            }
        }
        // A machine that has CANN in one of its own places.
        other => assert!(other.is_ok(), "{other:?}"),
    }
    assert!(std::env::vars_os().eq(before));
    if let BackendState::Absent(reason) = opweave_device_npu::backend().state {
        assert!(reason.contains("libascendcl.so was not found in"), "{reason}");
    }
}
