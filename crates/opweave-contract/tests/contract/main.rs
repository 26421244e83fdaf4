// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a declaration gives: problems, specs, checks, texts. Generic over operators, so that a new one is tested by its name.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod calls;
mod clauses;
mod declarations;
mod layouts;
mod pages;
mod pieces;
mod probe;
mod problems;
mod rotary_table;
mod round_trips;
mod sharing;

/// Runs a generic function for every operator of the workspace and for the test's own.
macro_rules! for_each_operator {
    ($function:ident) => {{
        use opweave_contract::ops::normalization::*;
        use opweave_contract::ops::quantization::*;
        use opweave_contract::ops::sampling::*;
        let mut covered = vec![
            $function::<RmsNorm>(),
            $function::<GemmaRmsNorm>(),
            $function::<FusedAddRmsNorm>(),
            $function::<FusedAddGemmaRmsNorm>(),
            $function::<LayerNorm>(),
            $function::<L2Norm>(),
            $function::<RmsNormGated>(),
            $function::<RmsNormDynamicQuant>(),
            $function::<FusedAddRmsNormDynamicQuant>(),
            $function::<opweave_contract::ops::embedding::Embedding>(),
            $function::<opweave_contract::ops::rotary::RotaryEmbedding>(),
            $function::<opweave_contract::ops::rotary::FusedQkNormRope>(),
            $function::<QuantizePerTensor>(),
            $function::<DynamicQuant>(),
            $function::<Argmax>(),
            $function::<opweave_contract::ops::kv_cache::ReshapePagedCache>(),
            $function::<opweave_contract::ops::activation::SiluAndMul>(),
            $function::<opweave_contract::ops::activation::GeluAndMul>(),
            $function::<opweave_contract::ops::activation::GeluTanhAndMul>(),
            $function::<opweave_contract::ops::softmax::Softmax>(),
            $function::<opweave_contract::ops::softmax::LogSoftmax>(),
        ];
        // The list above is checked against the declarations, so that no operator is forgotten.
        crate::assert_all_listed(&covered.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        covered.push($function::<crate::probe::Probe>());
        covered
    }};
}
pub(crate) use for_each_operator;

fn assert_all_listed(listed: &[&str]) {
    let declared: Vec<&str> = opweave_contract::ops::operations().map(|o| o.operation).collect();
    let missing: Vec<&&str> = declared.iter().filter(|name| !listed.contains(name)).collect();
    let unknown: Vec<&&str> = listed.iter().filter(|name| !declared.contains(name)).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "`for_each_operator` lists what `ops::operations()` declares: it lacks {missing:?}, and {unknown:?} is not declared"
    );
}
