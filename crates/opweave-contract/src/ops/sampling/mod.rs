// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Sampling: from the logits of a vocabulary to a token.

/// The operators of this family: the one list that a further one joins.
#[doc(hidden)]
#[macro_export]
macro_rules! sampling_operators {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*] sampling:
            argmax: Argmax,
            top_k_top_p_sampling: TopKTopPSampling,
        }
    };
}

sampling_operators!(family);
