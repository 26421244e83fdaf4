// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Explanations and refusals as text: what people read.

use opweave_contract::{FactValue, Operator};
use opweave_device::{Capability, DeviceKey, DeviceKind};
use opweave_registry::{Buckets, ExecutionMode, Region, Regions, Reject};
use opweave_runtime::{Demands, Override, OverrideSource, explain};
use opweave_tensor::DType;

use crate::selection_rules::problem;
use crate::support::operators::*;
use crate::support::world::runtime;

#[test]
fn an_explanation_says_what_runs_and_why_and_why_not() {
    let registry = runtime().registry().unwrap();
    let (problem, key) = (problem(), DeviceKey::noop(&[]));
    let buckets = Buckets::new(TestNorm::signature(), "tokens", &[8]).unwrap();
    let (graph, none) = (ExecutionMode::Graph, Demands::default());
    let explained = explain(&registry, "test_norm", Some(&problem), &buckets, &key, graph, none, None, None);
    let mut text: String = explained.iter().map(ToString::to_string).collect();
    // By name, without a problem; and with an override that nothing can follow.
    let by_name = explain(&registry, "test_norm", None, &Buckets::none(), &key, ExecutionMode::Eager, none, None, None);
    text += &by_name[0].to_string();
    let vendor =
        Override { value: "vendor".into(), source: OverrideSource::Environment("OPWEAVE_OVERRIDE_TEST_NORM".into()) };
    let refused =
        explain(&registry, "test_norm", Some(&problem), &Buckets::none(), &key, graph, none, Some(&vendor), None);
    text += &refused[0].to_string();
    insta::assert_snapshot!("explanations", text);
    assert!(refused[0].outcome.is_err());
    assert_eq!(explained[0].considered.len(), 6, "every row of the operation, whatever became of it");
}

/// Explaining is a question: it prepares nothing and needs no device.
#[test]
fn an_explanation_for_a_machine_that_is_not_here_prepares_nothing() {
    let registry = runtime().registry().unwrap();
    crate::support::kernel::take_log();
    let (problem, key) = (problem(), "cuda:9.0".parse::<DeviceKey>().unwrap());
    let (buckets, mode) = (Buckets::none(), ExecutionMode::Graph);
    let explained =
        explain(&registry, "test_norm", Some(&problem), &buckets, &key, mode, Demands::default(), None, None);
    assert!(explained[0].outcome.is_err() && explained[0].device == "cuda:9.0");
    assert!(crate::support::kernel::take_log().is_empty());
}

#[test]
fn every_refusal_has_a_word_a_text_and_its_numbers() {
    let rejects = [
        Reject::Contract { asked: "norm v2".into(), has: vec!["norm v1".into()] },
        Reject::Device { asked: DeviceKind::Cuda, has: DeviceKind::Cpu },
        Reject::Mode { asked: ExecutionMode::Graph, has: vec![ExecutionMode::Eager] },
        Reject::NotCompiled { feature: "cuda".into() },
        Reject::NotBuilt { kernel: "norm".into(), build: "cargo xtask kernels build" },
        Reject::Image { kernel: "norm".into(), reason: "built from other sources".into() },
        Reject::MissingLibrary { library: "cublasLt".into(), reason: "not found".into() },
        Reject::Version { library: "cublasLt".into(), needs: "12.4".into(), has: "12.1".into() },
        Reject::Target { images: vec!["sm_90a".parse().unwrap()], device: Capability { major: 8, minor: 9 } },
        Reject::Feature { missing: vec!["avx2".into()], has: Vec::new() },
        Reject::DTypes {
            facts: vec!["dtype"],
            values: vec![FactValue::DType(DType::F64)],
            covered: vec![vec![Some(DType::F32)], vec![None]],
        },
        Reject::Dimension { fact: "width".into(), value: FactValue::Int(7), domain: "multiples of 8".into() },
        Reject::Relation { relation: "a % b == 0".into(), left: "a = 7".into(), right: "b = 2".into() },
        Reject::Promise { argument: "input", needs: "contiguous".into(), has: "nothing".into() },
        Reject::Resource { resource: "shared memory", needs: 2, has: 1 },
        Reject::Determinism { demand: "deterministic" },
        Reject::Override { value: "native".into(), source_of: "from the configuration".into() },
        Reject::Residual { reason: "the moon is full".into() },
    ];
    let kinds: std::collections::BTreeSet<&str> = rejects.iter().map(Reject::kind).collect();
    assert_eq!(kinds.len(), rejects.len());
    let available = |r: &&Reject| r.is_availability();
    let words: Vec<&str> = rejects.iter().filter(available).map(Reject::kind).collect();
    assert_eq!(words, ["not_compiled", "not_built", "image", "missing_library", "version"]);
    let text: Vec<String> = rejects.iter().map(|r| format!("{}: {r}", r.kind())).collect();
    insta::assert_snapshot!("refusals", text.join("\n"));
}

#[test]
fn execution_modes_are_two_words() {
    for mode in [ExecutionMode::Eager, ExecutionMode::Graph] {
        assert_eq!(mode.to_string().parse::<ExecutionMode>().unwrap(), mode);
    }
    let error = "Graph".parse::<ExecutionMode>().unwrap_err().to_string();
    assert_eq!(error, "execution mode `Graph` is unknown; expected eager or graph");
}

#[test]
fn regions_that_are_enough_for_both() {
    let a = Regions { scratch: Region::new(100, 256), zeroed: Region::new(0, 0) };
    let b = Regions { scratch: Region::new(300, 64), zeroed: Region::new(8, 16) };
    let both = Regions { scratch: Region::new(300, 256), zeroed: Region::new(8, 16) };
    assert_eq!((a.max(b), b.max(a), a.max(Regions::default())), (both, both, a));
}
