// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Problems as text: facts, promises and bounds, what is refused and with which words.

use opweave_contract::ops::normalization::{RmsNorm, RmsNormGated};
use opweave_contract::{Bounds, Operator, ProblemError, Promise, Promises, nearest};
use opweave_tensor::DType;

use crate::probe::{Probe, ProbeProblem, Side};

fn probe(pairs: &[&str]) -> Result<ProbeProblem, ProblemError> {
    Probe::problem_from(pairs)
}

const BASE: [&str; 3] = ["width=8", "heads=2", "dtype=f32"];

fn with(more: &str) -> Result<ProbeProblem, ProblemError> {
    probe(&[BASE.as_slice(), &[more]].concat())
}

#[test]
fn defaults_fill_what_is_not_given() {
    let problem = probe(&BASE).unwrap();
    assert_eq!(problem, ProbeProblem::new(8, 2, DType::F32));
    assert_eq!((problem.scale_dtype, problem.log_dtype), (None, Some(DType::F32)));
    assert_eq!((problem.side, problem.causal, problem.window), (Side::Left, false, None));
    // A default may depend on a required fact.
    let norm = RmsNorm::problem_from(&["hidden_size=8", "dtype=bf16"]).unwrap();
    assert_eq!(norm.weight_dtype, Some(DType::BF16));
}

#[test]
fn spaces_around_names_and_values_do_not_count() {
    assert_eq!(probe(&[" width = 8 ", "heads=2", "dtype= f32"]).unwrap(), probe(&BASE).unwrap());
}

#[test]
fn an_unknown_fact_is_refused_with_the_nearest_spelling() {
    let cases = [
        ("widht=9", "did you mean `width`?"),
        ("WIDTH=9", "did you mean `width`?"),
        ("input.aling=16", "did you mean `input.align`?"),
        ("token.max=4", "did you mean `tokens.max`?"),
        ("factor.align=4", "unknown fact `factor.align`"),
        ("out.max=4", "unknown fact `out.max`"),
        ("completely_else=1", "expected one of width, heads, dtype"),
    ];
    for (text, expected) in cases {
        let pairs = [BASE.as_slice(), &[text]].concat();
        let error = probe(&pairs).unwrap_err();
        assert!(matches!(error, ProblemError::Unknown { .. }), "{text}: {error}");
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
    let misspelt = probe(&["widht=8", "dtype=f32"]).unwrap_err().to_string();
    assert!(misspelt.contains("did you mean `width`?"), "a misspelt fact is not a missing one: {misspelt}");
    let far = probe(&[BASE.as_slice(), &["completely_else=1"]].concat()).unwrap_err().to_string();
    assert!(!far.contains("did you mean"), "{far}");
}

#[test]
fn a_missing_fact_is_refused_with_its_legal_values() {
    let error = probe(&["width=8", "dtype=f32"]).unwrap_err();
    assert_eq!(error.to_string(), "probe: fact `heads` is required: 2, 4, 8");
}

#[test]
fn illegal_values_are_refused_with_the_legal_set() {
    let cases = [
        ("heads=3", "fact `heads` is `3`; expected 2, 4, 8"),
        ("width=0", "fact `width` is `0`; expected 1 to 4096"),
        ("width=-1", "fact `width` is `-1`; expected 1 to 4096"),
        ("width=1e3", "fact `width` is `1e3`"),
        ("width=99999999999999999999", "expected 1 to 4096"),
        ("dtype=f64", "fact `dtype` is `f64`; expected f32, bf16, f8e4m3"),
        ("dtype=F32", "fact `dtype` is `F32`"),
        ("side=up", "fact `side` is `up`; expected left or right"),
        ("causal=yes", "fact `causal` is `yes`; expected true or false"),
        ("window=0", "fact `window` is `0`; expected 1 to 4096"),
        ("scale_dtype=bf16", "fact `scale_dtype` is `bf16`; expected f32"),
        ("input.align=3", "fact `input.align` is `3`; expected a power of two up to 4096"),
        ("input.align=8192", "expected a power of two up to 4096"),
        ("input.contiguous=1", "expected true or false"),
        ("tokens.max=many", "fact `tokens.max` is `many`; expected a non-negative integer"),
        ("batch.max=0", "fact `batch.max` is `0`; expected at least 1"),
    ];
    for (text, expected) in cases {
        let name = text.split('=').next().unwrap();
        let mut pairs: Vec<&str> = BASE.into_iter().filter(|p| p.split('=').next() != Some(name)).collect();
        pairs.push(text);
        let error = probe(&pairs).unwrap_err();
        assert!(matches!(error, ProblemError::Illegal { .. }), "{text}: {error:?}");
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
}

#[test]
fn text_that_is_no_pair_and_names_given_twice_are_refused() {
    for text in ["width", "", "width:8", "width=9", "side=left side=right"] {
        let error = with(text).unwrap_err();
        match text {
            "side=left side=right" => assert!(matches!(error, ProblemError::Illegal { .. }), "{error}"),
            _ => assert!(matches!(error, ProblemError::Syntax { .. }), "{text}: {error}"),
        }
    }
    assert!(with("width=9").unwrap_err().to_string().contains("expected each name once"));
}

#[test]
fn relations_are_named_with_both_values() {
    let error = probe(&["width=9", "heads=2", "dtype=f32"]).unwrap_err().to_string();
    assert_eq!(error, "probe: fact `width` is `9`; expected width % heads == 0 (here heads=2)");
    assert!(with("window=8").is_ok());
    let error = with("window=9").unwrap_err().to_string();
    assert_eq!(error, "probe: fact `window` is `9`; expected window <= width (here width=8)");
    let norm = |weight: &str| RmsNorm::problem_from(&["hidden_size=8", "dtype=f16", &format!("weight_dtype={weight}")]);
    assert!(norm("f16").is_ok() && norm("f32").is_ok() && norm("none").is_ok());
    let error = norm("bf16").unwrap_err().to_string();
    assert!(error.contains("weight_dtype is dtype or f32 (here dtype=f16)"), "{error}");
    let groups = RmsNormGated::problem_from(&["hidden_size=10", "dtype=f32", "groups=3"]).unwrap_err().to_string();
    assert!(groups.contains("hidden_size % groups == 0"), "{groups}");
}

#[test]
fn a_problem_built_in_code_is_checked_like_one_in_text() {
    let mut problem = ProbeProblem::new(8, 2, DType::F32);
    assert_eq!(Probe::validate(&problem), Ok(()));
    problem.heads = 5;
    assert!(Probe::validate(&problem).unwrap_err().to_string().contains("fact `heads` is `5`"));
    problem = ProbeProblem::new(8, 2, DType::F64);
    assert!(Probe::validate(&problem).unwrap_err().to_string().contains("fact `dtype` is `f64`"));
    problem = ProbeProblem::new(8, 2, DType::F32);
    problem.promises = Promises::default().with(0, Promise { alignment: 3, contiguous: false, constant: false });
    let error = Probe::validate(&problem).unwrap_err().to_string();
    assert_eq!(error, "probe: fact `input.align` is `3`; expected a power of two up to 4096");
    problem = ProbeProblem::new(8, 2, DType::F32);
    problem.bounds = Bounds::default().with(1, 0);
    assert!(
        Probe::validate(&problem).unwrap_err().to_string().contains("fact `batch.max` is `0`; expected at least 1")
    );
}

#[test]
fn promises_and_bounds_are_facts() {
    let problem = probe(&[
        "width=8",
        "heads=2",
        "dtype=f32",
        "out.align=64",
        "input.contiguous=true",
        "weight.constant=true",
        "tokens.max=512",
    ]);
    let problem = problem.unwrap();
    let out = Probe::signature().tensor("out").unwrap();
    assert_eq!(problem.promises.get(out), Promise { alignment: 64, contiguous: false, constant: false });
    assert_eq!((problem.bounds.get(0), problem.bounds.get(1)), (Some(512), None));
    let text = Probe::all_facts(&problem).to_string();
    assert!(text.ends_with("input.contiguous=true weight.constant=true out.align=64 tokens.max=512"), "{text}");
    // What is false or not promised is not printed, so that equal problems print equally.
    assert_eq!(with("input.contiguous=false").unwrap(), probe(&BASE).unwrap());
    assert_eq!(with("input.constant=false").unwrap(), probe(&BASE).unwrap());
    let written = with("out.constant=true").unwrap_err().to_string();
    assert!(written.ends_with("fact `out.constant` is `true`; expected false for what a call writes"), "{written}");
}

#[test]
fn nearest_spelling_ignores_case_and_gives_up_on_strangers() {
    let known = ["rms_norm", "layer_norm", "l2_norm"];
    let cases = [
        ("rmsnorm", Some("rms_norm")),
        ("RMS_NORM", Some("rms_norm")),
        ("layernorm", Some("layer_norm")),
        ("softmax", None),
        ("l2norm", Some("l2_norm")),
    ];
    for (word, expected) in cases {
        assert_eq!(nearest(word, known), expected, "{word}");
    }
    assert_eq!(nearest("x", []), None);
}
