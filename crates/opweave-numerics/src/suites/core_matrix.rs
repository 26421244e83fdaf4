// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The sizes at which implementations are compared with those of other libraries: one token to many, each operator in the mode
//! and dtype in which it is used most.
//!
//! They stand at the full tier, behind the few that every benchmark times.

use opweave_contract::Operator;

use crate::config::Tier;
use crate::suite::Case;

/// Tokens: one and few in decoding, many in prefill.
pub(super) const TOKENS: [usize; 6] = [1, 8, 64, 512, 4096, 16384];

/// Tokens of a batch that decodes and of one that prefills, for the rows of published models.
pub(super) const MODEL_TOKENS: [usize; 2] = [32, 2048];

/// Tokens that a timed case is judged by, where it has more: a reference of all of them would take longer than the times.
pub(super) const JUDGED: usize = 64;

/// The same where a token has a row of ten thousand elements and more.
pub(super) const JUDGED_OF_WIDE: usize = 16;

/// The same where the reference ranks a vocabulary for each token.
pub(super) const JUDGED_OF_RANKED: usize = 8;

/// Widths of hidden rows that the matrix lacks: Qwen2.5 7B, Gemma 3 27B, DeepSeek V3.
pub(super) const HIDDEN: [usize; 3] = [3584, 5376, 7168];

/// Widths of gated rows: Qwen2.5 7B, Gemma 3 27B, DeepSeek V3.
pub(super) const INTERMEDIATE: [usize; 3] = [18_944, 21_504, 18_432];

/// Query heads and heads of the cache, 128 wide: Qwen2.5 7B, Gemma 3 27B, Llama 3 70B.
pub(super) const HEADS: [(usize, usize); 3] = [(28, 4), (32, 16), (64, 8)];

/// Vocabularies: DeepSeek V3, Qwen2.5 7B, Gemma 3.
pub(super) const VOCABULARIES: [usize; 3] = [129_280, 152_064, 262_144];

/// Rows and a width that fit no vector, no tile and no number of threads.
pub(super) const AWKWARD: (usize, usize) = (37, 769);

/// Tokens with each of `sizes`, and the awkward shape.
pub(super) fn of_models(sizes: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let pairs = sizes.iter().flat_map(|&size| MODEL_TOKENS.map(|tokens| (tokens, size)));
    pairs.chain([AWKWARD])
}

/// An operator's own cases, and those of the matrix that are not among them.
pub(super) fn with<O: Operator>(
    mut own: Vec<Case<O>>,
    matrix: impl IntoIterator<Item = Option<Case<O>>>,
) -> Vec<Case<O>> {
    for case in matrix.into_iter().flatten() {
        if own.iter().all(|there| there.label != case.label) {
            own.push(case.tier(Tier::Full));
        }
    }
    own
}
