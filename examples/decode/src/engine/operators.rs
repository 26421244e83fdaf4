// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The operators of a pass beside the products: asked for once, prepared once.

use std::sync::Arc;

use opweave::ops::{
    Argmax, ArgmaxProblem, AttentionPrefill, AttentionPrefillProblem, Embedding, EmbeddingProblem, FusedAddRmsNorm,
    FusedAddRmsNormProblem, PagedAttentionDecode, PagedAttentionDecodeProblem, ReshapePagedCache,
    ReshapePagedCacheProblem, RmsNorm, RmsNormProblem, RotaryEmbedding, RotaryEmbeddingProblem, SiluAndMul,
    SiluAndMulProblem, TopKTopPSampling, TopKTopPSamplingProblem,
};
use opweave::{Bindings, Config as Setup, DType, DeviceId, Prepared, Request};

use super::matrix::DEMANDS;
use super::options::Options;
use super::{EngineError, Kernels};
use crate::checkpoint::Config;

/// The problems that a configuration makes.
pub(super) struct Problems {
    embedding: EmbeddingProblem,
    norm: RmsNormProblem,
    add_norm: FusedAddRmsNormProblem,
    rotary: RotaryEmbeddingProblem,
    store: ReshapePagedCacheProblem,
    prefill: AttentionPrefillProblem,
    decode: PagedAttentionDecodeProblem,
    activation: SiluAndMulProblem,
    argmax: ArgmaxProblem,
    sampling: TopKTopPSamplingProblem,
}

/// What is prepared for them.
pub(super) struct Operators {
    pub(super) embedding: Arc<Prepared<Embedding>>,
    pub(super) norm: Arc<Prepared<RmsNorm>>,
    pub(super) add_norm: Arc<Prepared<FusedAddRmsNorm>>,
    pub(super) rotary: Arc<Prepared<RotaryEmbedding>>,
    pub(super) store: Arc<Prepared<ReshapePagedCache>>,
    pub(super) prefill: Arc<Prepared<AttentionPrefill>>,
    pub(super) decode: Arc<Prepared<PagedAttentionDecode>>,
    pub(super) activation: Arc<Prepared<SiluAndMul>>,
    pub(super) argmax: Arc<Prepared<Argmax>>,
    pub(super) sampling: Arc<Prepared<TopKTopPSampling>>,
}

impl Problems {
    pub(super) fn new(c: &Config, options: &Options) -> Self {
        let (dtype, page_size) = (DType::F32, options.page_size);
        let (heads, kv_heads, head_dim) = (c.num_heads, c.num_kv_heads, c.head_dim);
        let prefill = AttentionPrefillProblem::new(heads, kv_heads, head_dim, dtype);
        Problems {
            embedding: EmbeddingProblem::new(c.vocab_size, c.hidden_size, dtype),
            norm: RmsNormProblem::new(c.hidden_size, dtype),
            add_norm: FusedAddRmsNormProblem::new(c.hidden_size, dtype),
            rotary: RotaryEmbeddingProblem {
                key_dtype: None,
                ..RotaryEmbeddingProblem::new(heads + kv_heads, kv_heads, head_dim, head_dim, dtype)
            },
            store: ReshapePagedCacheProblem::new(kv_heads, head_dim, page_size, dtype),
            prefill: AttentionPrefillProblem { page_size, ..prefill },
            decode: PagedAttentionDecodeProblem::new(heads, kv_heads, head_dim, page_size, dtype),
            activation: SiluAndMulProblem::new(c.intermediate_size, dtype),
            argmax: ArgmaxProblem { index_dtype: DType::U32, ..ArgmaxProblem::new(c.vocab_size, dtype) },
            sampling: TopKTopPSamplingProblem {
                index_dtype: DType::U32,
                ..TopKTopPSamplingProblem::new(c.vocab_size, dtype)
            },
        }
    }

    /// Asks for all of them.
    pub(super) fn request(&self, setup: Setup) -> Setup {
        setup
            .request(Request::<Embedding>::new(self.embedding).demands(DEMANDS))
            .request(Request::<RmsNorm>::new(self.norm).demands(DEMANDS))
            .request(Request::<FusedAddRmsNorm>::new(self.add_norm).demands(DEMANDS))
            .request(Request::<RotaryEmbedding>::new(self.rotary).demands(DEMANDS))
            .request(Request::<ReshapePagedCache>::new(self.store).demands(DEMANDS))
            .request(Request::<AttentionPrefill>::new(self.prefill).demands(DEMANDS))
            .request(Request::<PagedAttentionDecode>::new(self.decode).demands(DEMANDS))
            .request(Request::<SiluAndMul>::new(self.activation).demands(DEMANDS))
            .request(Request::<Argmax>::new(self.argmax).demands(DEMANDS))
            .request(Request::<TopKTopPSampling>::new(self.sampling).demands(DEMANDS))
    }

    pub(super) fn prepared(&self, bindings: &Bindings) -> Result<Operators, EngineError> {
        let cpu = DeviceId::CPU;
        Ok(Operators {
            embedding: bindings.prepared(cpu, &self.embedding)?,
            norm: bindings.prepared(cpu, &self.norm)?,
            add_norm: bindings.prepared(cpu, &self.add_norm)?,
            rotary: bindings.prepared(cpu, &self.rotary)?,
            store: bindings.prepared(cpu, &self.store)?,
            prefill: bindings.prepared(cpu, &self.prefill)?,
            decode: bindings.prepared(cpu, &self.decode)?,
            activation: bindings.prepared(cpu, &self.activation)?,
            argmax: bindings.prepared(cpu, &self.argmax)?,
            sampling: bindings.prepared(cpu, &self.sampling)?,
        })
    }
}

impl Operators {
    /// Scratch memory that is enough for each of them: bytes and alignment.
    pub(super) fn scratch(&self) -> (usize, usize) {
        let region = self.prefill.workspace().max(self.decode.workspace()).scratch;
        (region.bytes, region.align)
    }

    pub(super) fn kernels(&self, kernels: &mut Kernels) {
        kernels.add(&self.embedding);
        kernels.add(&self.norm);
        kernels.add(&self.add_norm);
        kernels.add(&self.rotary);
        kernels.add(&self.store);
        kernels.add(&self.prefill);
        kernels.add(&self.decode);
        kernels.add(&self.activation);
        kernels.add(&self.argmax);
        kernels.add(&self.sampling);
    }
}
