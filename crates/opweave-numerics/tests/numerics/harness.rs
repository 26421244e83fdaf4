// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The harness, tried on kernels that are right and on kernels that are wrong in one way each.

use crate::support::{ByReference, Damage, operations, register_all, registry, run_on};
use opweave_contract::Role;
use opweave_contract::ops::normalization::RmsNorm;
use opweave_numerics::report::{CaseReport, FindingKind, Status};
use opweave_numerics::{Config, Mode, Report, Tier, Verdict};

fn config(operation: &str, label: &str) -> Config {
    Config {
        operations: vec![operation.to_owned()],
        label: Some(label.to_owned()),
        revision: Some("test".to_owned()),
        ..Config::default()
    }
}

fn damaged(config: &Config, damage: Damage) -> Report {
    run_on(&registry(|registry| register_all(registry, "damaged", damage)), config)
}

fn only(report: &Report) -> &CaseReport {
    assert_eq!(report.operations[0].cases.len(), 1, "one case");
    &report.operations[0].cases[0]
}

fn has(case: &CaseReport, kind: FindingKind) -> bool {
    case.findings.iter().any(|finding| finding.kind == kind)
}

#[test]
fn an_honest_kernel_passes_every_default_case_in_both_modes() {
    let registry = registry(|registry| register_all(registry, "honest", Damage::None));
    for mode in [Mode::Eager, Mode::Graph] {
        let config =
            Config { mode, repeat: 2, batch_invariance: true, revision: Some("test".to_owned()), ..Config::default() };
        let report = run_on(&registry, &config);
        for operation in &report.operations {
            for case in &operation.cases {
                assert_eq!(case.verdict, Verdict::Passed, "{} {}: {:?}", mode, case.id, case.findings);
            }
            assert!(operation.counts.passed > 100);
        }
        assert_eq!((report.operations.len(), report.status), (operations().len(), Status::Passed));
    }
}

#[test]
fn each_damage_is_found_for_what_it_is() {
    let damages = [
        (Damage::LastRow, "t7_h769_f16_flat", FindingKind::Values),
        (Damage::Reversed, "t3_h769_bf16", FindingKind::Values),
        (Damage::Truncates, "t3_h769_bf16", FindingKind::Values),
        (Damage::PastEnd, "t3_h769_f16", FindingKind::Guard),
        (Damage::PastRow, "t4_h128_f32_strided", FindingKind::Guard),
        (Damage::Input, "t3_h769_bf16", FindingKind::Mutation),
        (Damage::Weight, "t3_h769_bf16", FindingKind::Mutation),
        (Damage::Fault, "t3_h769_bf16", FindingKind::Fault),
        (Damage::FaultError, "t3_h769_bf16", FindingKind::Fault),
        (Damage::Drift, "t3_h769_bf16", FindingKind::Repeat),
        (Damage::Alone, "t3_h769_bf16", FindingKind::BatchInvariance),
        (Damage::Place, "t3_h769_bf16", FindingKind::BatchInvariance),
    ];
    for (damage, label, kind) in damages {
        let config = Config { repeat: 3, batch_invariance: true, ..config("rms_norm", label) };
        let report = damaged(&config, damage);
        let case = only(&report);
        assert_eq!(case.verdict, Verdict::Failed, "{damage:?}");
        assert!(has(case, kind), "{damage:?}: {:?}", case.findings);
        assert_eq!((report.status, report.status.exit_code()), (Status::Failed, 1));
    }
}

#[test]
fn values_that_pass_alone_do_not_hide_drift_or_batch_dependence() {
    // One bit of one element is within the tolerance: without the further runs nothing is wrong.
    for damage in [Damage::Drift, Damage::Alone, Damage::Place] {
        let report = damaged(&config("rms_norm", "t3_h769_bf16"), damage);
        assert_eq!(only(&report).verdict, Verdict::Passed, "{damage:?}");
    }
}

#[test]
fn a_kernel_that_claims_less_is_held_to_less() {
    let config = Config { repeat: 3, batch_invariance: true, ..config("rms_norm", "t3_h769_bf16") };
    let run = |damage, deterministic, invariant| {
        let kernel = ByReference::<RmsNorm>::new("x", damage).claims(deterministic, invariant);
        let registry = registry(|registry| {
            registry.register::<RmsNorm, _>(std::sync::Arc::new(kernel)).unwrap();
        });
        only(&run_on(&registry, &config)).verdict.clone()
    };
    assert_eq!(run(Damage::Drift, false, false), Verdict::Passed);
    assert_eq!(run(Damage::Drift, true, false), Verdict::Failed);
    assert_eq!(run(Damage::Alone, true, false), Verdict::Passed);
    assert_eq!(run(Damage::Alone, true, true), Verdict::Failed);
}

#[test]
fn nothing_written_is_mistrusted_in_both_modes() {
    for mode in [Mode::Eager, Mode::Graph] {
        let report = damaged(&Config { mode, ..config("layer_norm", "t3_h769_bf16") }, Damage::Idle);
        match &only(&report).verdict {
            Verdict::Mistrusted { reason } => assert_eq!(reason, "nothing was written to `out`"),
            other => panic!("{other:?}"),
        }
        assert_eq!(report.status, Status::Failed);
    }
}

#[test]
fn a_graph_that_keeps_its_first_results_is_found() {
    let eager = damaged(&config("fused_add_rms_norm", "t3_h769_bf16"), Damage::Baked);
    assert_eq!(only(&eager).verdict, Verdict::Passed, "one call shows nothing");
    let graph = Config { mode: Mode::Graph, ..config("fused_add_rms_norm", "t3_h769_bf16") };
    let report = damaged(&graph, Damage::Baked);
    let case = only(&report);
    assert_eq!(case.verdict, Verdict::Failed);
    assert!(case.findings.iter().all(|f| f.text.starts_with("replay after the inputs changed again")));
    let honest = damaged(&graph, Damage::None);
    assert_eq!(only(&honest).verdict, Verdict::Passed);
    assert_eq!(only(&honest).leaves.len(), 6, "both outputs of both calls, and of the second replay");
}

/// Cases of small shapes: all but the models.
const SMALL: &str = "t?*_?*";

/// The same for an operation, whose labels may begin with a head's width where a batch has no number of tokens of its own.
fn small(operation: &str) -> &'static str {
    match operation {
        "attention_prefill" | "paged_attention_decode" => "d*_around_a_page",
        _ => SMALL,
    }
}

#[test]
fn every_argument_of_every_contract_is_sensed() {
    for operation in operations() {
        let signature = operation.operator.signature();
        let inputs = signature.tensors.iter().filter(|t| t.role != Role::Out).map(|t| t.name);
        let arguments: Vec<&'static str> = inputs.chain(signature.scalars.iter().map(|s| s.name)).collect();
        assert!(!arguments.is_empty(), "{}", operation.operation);
        for argument in arguments {
            let report = damaged(&config(operation.operation, small(operation.operation)), Damage::Ignores(argument));
            assert!(report.counts.failed > 0, "{} without {argument}", operation.operation);
            assert_eq!(report.status, Status::Failed);
        }
    }
}

#[test]
fn the_suite_of_a_mode_fails_on_the_output_of_its_sibling() {
    let mut pairs = 0;
    for operation in operations() {
        for fact in operation.operator.signature().facts {
            // They say where inputs lie and in which dtype, not what is computed of them.
            let places = matches!(fact.name, "keys" | "page_table" | "cache_format")
                && operation.operation.contains("attention");
            if places || fact.name == "weight_form" {
                continue;
            }
            let values: Vec<String> = (fact.values)().iter().map(ToString::to_string).collect();
            for (mode, sibling) in
                values.iter().flat_map(|a| values.iter().map(move |b| (a, b))).filter(|(a, b)| a != b)
            {
                let config = config(operation.operation, small(operation.operation));
                let report = damaged(&config, Damage::Sibling(fact.name, sibling.clone().leak()));
                let of_mode = |case: &&CaseReport| case.parameters.get(fact.name) == Some(mode);
                let cases: Vec<&CaseReport> = report.operations[0].cases.iter().filter(of_mode).collect();
                // f16 and bf16 each; where modes differ by a rounding alone, f32 has none to differ by.
                for dtype in ["bf16", "f16"] {
                    // A sibling that cannot even be computed on the case's arguments is refused too.
                    let refuses = |c: &&CaseReport| matches!(c.verdict, Verdict::Failed | Verdict::Error { .. });
                    let refused = cases.iter().any(|c| refuses(c) && c.parameters["dtype"] == dtype);
                    let name = format!("{} {}={mode}", operation.operation, fact.name);
                    assert!(refused, "{name} in {dtype} accepts {sibling} in all of {} cases", cases.len());
                }
                pairs += 1;
            }
        }
    }
    assert!(pairs >= 20, "only {pairs} pairs of modes");
}

#[test]
fn the_full_tier_reaches_past_32_bit_offsets() {
    let config = Config { tier: Tier::Full, ..config("rms_norm", "*stride_past_2_31") };
    let report = damaged(&config, Damage::None);
    assert_eq!((report.operations[0].cases.len(), report.status), (2, Status::Passed));
}
