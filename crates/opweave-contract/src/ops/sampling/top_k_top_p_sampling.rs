// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A token drawn from the likeliest of a row.

use opweave_tensor::DType;

use crate::ops::normalization::ACTIVATIONS;
use crate::{
    Cost, Erased, ImplementationDecl, Legal, NumericalMode, OpContract, OperationDecl, Relation, Saturation, choice,
    operator,
};

choice! {
    /// Which probabilities `top_p` counts.
    pub enum FilterOrder {
        /// Those that are left after `top_k`, made to sum to 1 again (vLLM, Transformers).
        KThenP = "k_then_p",
        /// Those of the whole row, as `top_k` does: a token stays where both would keep it (FlashInfer).
        Joint = "joint",
    }
}

choice! {
    /// Where the temperature acts.
    pub enum TemperatureAt {
        /// Before the filters: they see the tempered probabilities (vLLM, Transformers).
        BeforeFilters = "before_filters",
        /// After them: they see the probabilities of the logits as they are, and the draw is tempered (llama.cpp's default order).
        AfterFilters = "after_filters",
    }
}

/// `top_k_top_p_sampling`: weights in f32, their sums in f64.
pub static TOP_K_TOP_P_SAMPLING: OpContract = OpContract {
    operation: "top_k_top_p_sampling",
    version: 1,
    mutates: &[],
    aliases: &[],
    numerical_mode: NumericalMode {
        name: "",
        accumulation: DType::F64,
        roundings: &[],
        weight_multiply: None,
        saturation: Saturation::None,
    },
};

/// The faults of `top_k_top_p_sampling`, in the order of its clauses.
pub const TOP_K_ILLEGAL: &str = "top_k below -1";
/// See [`TOP_K_ILLEGAL`].
pub const TOP_P_ILLEGAL: &str = "top_p outside 0 to 1";
/// See [`TOP_K_ILLEGAL`].
pub const TEMPERATURE_ILLEGAL: &str = "temperature negative or not finite";

operator! {
    /// `out` = a token of each row, drawn by its probability from those that `top_k` and `top_p` leave.
    ///
    /// The weight of a token is `exp((l - max l) / temperature)`. Of the order by weight, larger first, and by index where
    /// weights are equal, `top_k` keeps the first k and `top_p` the fewest whose weights reach the share p of the sum, at least
    /// one. With the uniform number u, the token is the first in the order of indices where the running sum of the kept weights
    /// exceeds u times their sum.
    ///
    /// u is made of the 53 upper bits of the first two words of Philox4x32-10 (Salmon and others, 2011), whose key is the row's
    /// seed and whose counter is the row's offset: low word first, the counter's upper half zero. Nucleus sampling: Holtzman and
    /// others, 2020.
    pub TopKTopPSampling = "top_k_top_p_sampling";
    problem TopKTopPSamplingProblem {
        required {
            /// Elements of a row.
            vocab_size: usize => Legal::Range(1, 1 << 30);
            /// dtype of `logits`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// Elements of a row that are looked at, where the rest is padding; none for all.
            valid_size: Option<usize> = None => Legal::Range(1, 1 << 30);
            /// dtype of `out`.
            index_dtype: DType = DType::I64 => Legal::DTypes(&[DType::I32, DType::I64, DType::U32]);
            /// Which probabilities `top_p` counts.
            order: FilterOrder = FilterOrder::KThenP => Legal::Any;
            /// Where the temperature acts.
            temperature_at: TemperatureAt = TemperatureAt::BeforeFilters => Legal::Any;
        }
        relations [Relation::AtMost("valid_size", "vocab_size")]
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args TopKTopPSamplingArgs {
        tensors {
            /// What probabilities are made of.
            logits: In [tokens strided, vocab_size] of dtype;
            /// Tokens that are kept: 0 or -1 for all, as is a number of at least the row's width.
            top_k: In [tokens] of DType::I32;
            /// The share of the sum that is kept: 0 for one token, 1 for all.
            top_p: In [tokens] of DType::F32;
            /// What logits are divided by: 0 for the likeliest token.
            temperature: In [tokens] of DType::F32;
            /// The key of each row's random number.
            seeds: In [tokens] of DType::U64;
            /// Its place in the key's sequence: one more for each token drawn.
            offsets: In [tokens] of DType::U64;
            /// The token of each row.
            out: Out [tokens] of index_dtype;
        }
        scalars {}
    }
    faults ["top_k below -1", "top_p outside 0 to 1", "temperature negative or not finite"]
    contracts [&TOP_K_TOP_P_SAMPLING] by |_problem| &TOP_K_TOP_P_SAMPLING;
    cost |problem, specs, dims| Cost::streaming(specs, dims, (dims.get(0) * problem.vocab_size) as u64 * 4);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<TopKTopPSampling>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.top_k_top_p_sampling.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.top_k_top_p_sampling.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.top_k_top_p_sampling.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.top_k_top_p_sampling", solution: "cpu.reference", libraries: &[] },
    ],
);
