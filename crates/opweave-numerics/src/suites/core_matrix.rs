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
