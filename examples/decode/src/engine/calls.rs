// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The calls of a pass. Their views follow from its shape, so they are checked when a shape comes and kept until another does: a token
//! that is decoded makes the calls of the token before.
//!
//! The views outlive every borrow: they are of vectors and blocks that the engine makes once and never grows, which is what makes
//! [`Engine::run`](super::Engine) sound.

use opweave::contract::Operator;
use opweave::device::Buffer as _;
use opweave::ops::{
    AttentionPrefill, AttentionPrefillArgs, Embedding, EmbeddingArgs, FusedAddRmsNorm, FusedAddRmsNormArgs, Linear,
    LinearWna16, PagedAttentionDecode, PagedAttentionDecodeArgs, ReshapePagedCache, ReshapePagedCacheArgs, RmsNorm,
    RmsNormArgs, RotaryEmbedding, RotaryEmbeddingArgs, SiluAndMul, SiluAndMulArgs,
};
use opweave::{CheckedCall, EnqueueError, StreamRef, Workspace};

use super::memory::Place;
use super::{Engine, EngineError};

/// What the views of a pass follow from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shape {
    pub(super) tokens: usize,
    pub(super) sequences: usize,
    /// Rows of logits.
    pub(super) rows: usize,
}

impl Shape {
    /// Whether each sequence has one token.
    fn single(self) -> bool {
        self.tokens == self.sequences
    }

    /// Whether logits are wanted of every token.
    pub(super) fn all(self) -> bool {
        self.tokens == self.rows
    }
}

/// A call that was checked, and can be made.
pub(super) trait Call {
    /// # Errors
    /// As [`CheckedCall::enqueue`].
    ///
    /// # Safety
    /// - As [`CheckedCall::enqueue`].
    unsafe fn enqueue(&self, stream: StreamRef<'_>) -> Result<(), EnqueueError>;

    /// Asks for what the call reads of itself.
    fn fetch(&self);
}

impl<O: Operator> Call for CheckedCall<O> {
    #[inline(always)]
    unsafe fn enqueue(&self, stream: StreamRef<'_>) -> Result<(), EnqueueError> {
        // SAFETY: the caller's clause.
        unsafe { CheckedCall::enqueue(self, stream) }
    }

    #[inline(always)]
    fn fetch(&self) {
        CheckedCall::fetch(self);
    }
}

/// Makes an enum of two calls a call.
macro_rules! either {
    ($(#[doc = $doc:literal])* $name:ident { $one:ident($a:ty), $other:ident($b:ty) }) => {
        $(#[doc = $doc])*
        #[expect(clippy::large_enum_variant, reason = "a model has a few hundred, all of one kind")]
        pub(super) enum $name {
            $one(CheckedCall<$a>),
            $other(CheckedCall<$b>),
        }

        impl Call for $name {
            #[inline(always)]
            unsafe fn enqueue(&self, stream: StreamRef<'_>) -> Result<(), EnqueueError> {
                match self {
                    // SAFETY: the caller's clause.
                    $name::$one(call) => unsafe { call.enqueue(stream) },
                    // SAFETY: the caller's clause.
                    $name::$other(call) => unsafe { call.enqueue(stream) },
                }
            }

            #[inline(always)]
            fn fetch(&self) {
                match self {
                    $name::$one(call) => call.fetch(),
                    $name::$other(call) => call.fetch(),
                }
            }
        }
    };
}

either! {
    /// A product, by the form of its matrix.
    ProductCall { Float(Linear), Codes(LinearWna16) }
}

either! {
    /// Attention, by what is new of each sequence: one token or several.
    AttentionCall { Decode(PagedAttentionDecode), Prefill(AttentionPrefill) }
}

/// The calls of a layer, in their order.
pub(super) struct LayerCalls {
    pub(super) qkv: ProductCall,
    pub(super) rotary: CheckedCall<RotaryEmbedding>,
    pub(super) store: CheckedCall<ReshapePagedCache>,
    pub(super) attention: AttentionCall,
    pub(super) output: ProductCall,
    pub(super) mlp_norm: CheckedCall<FusedAddRmsNorm>,
    pub(super) gate_up: ProductCall,
    pub(super) activation: CheckedCall<SiluAndMul>,
    pub(super) down: ProductCall,
    /// The next layer's first norm, or the last of all.
    pub(super) next_norm: CheckedCall<FusedAddRmsNorm>,
}

/// The calls before the layers, and the one behind them.
pub(super) struct OuterCalls {
    pub(super) embedding: CheckedCall<Embedding>,
    pub(super) norm: CheckedCall<RmsNorm>,
    pub(super) head: ProductCall,
}

/// The calls of a shape.
pub(super) struct Calls {
    pub(super) shape: Option<Shape>,
    pub(super) outer: Option<OuterCalls>,
    pub(super) layers: Vec<LayerCalls>,
}

impl Calls {
    /// None, with room for those of so many layers: calls of a new shape then allocate nothing.
    pub(super) fn new(layers: usize) -> Self {
        Calls { shape: None, outer: None, layers: Vec::with_capacity(layers) }
    }
}

impl Engine {
    /// Has the calls of a shape checked, unless they are there.
    pub(super) fn check(&mut self, shape: Shape) -> Result<(), EngineError> {
        if self.calls.shape == Some(shape) {
            return Ok(());
        }
        self.calls.shape = None;
        self.calls.layers.clear();
        for layer in 0..self.layers.len() {
            let calls = self.layer_calls(shape, layer)?;
            self.calls.layers.push(calls);
        }
        self.calls.outer = Some(self.outer_calls(shape)?);
        self.calls.shape = Some(shape);
        Ok(())
    }

    fn outer_calls(&mut self, Shape { tokens, rows, .. }: Shape) -> Result<OuterCalls, EngineError> {
        let Engine { config: c, buffers: b, operators: op, arena, head, table, .. } = self;
        let hidden = [tokens, c.hidden_size];
        let normed = Place::of(&mut b.normed);
        let residual = Place::of(&mut b.residual).view(&hidden)?;
        let embedding = EmbeddingArgs {
            ids: Place::of(&mut b.ids).view(&[tokens])?,
            table: Place::of(table).view(&[c.vocab_size, c.hidden_size])?,
            out: residual,
        };
        let norm = RmsNormArgs {
            input: residual,
            weight: Some(Place::of(&mut self.layers[0].attention_norm).view(&[c.hidden_size])?),
            out: normed.view(&hidden)?,
            epsilon: c.rms_norm_eps,
        };
        let input = if tokens == rows { normed } else { Place::of(&mut b.last) };
        let logits = Place::of(&mut b.logits).view(&[rows, c.vocab_size])?;
        Ok(OuterCalls {
            embedding: op.embedding.checked(embedding, Workspace::NONE)?,
            norm: op.norm.checked(norm, Workspace::NONE)?,
            head: head.call(arena, input.view(&[rows, c.hidden_size])?, logits)?,
        })
    }

    fn layer_calls(&mut self, shape: Shape, layer: usize) -> Result<LayerCalls, EngineError> {
        let (rotary, store) = self.placing(shape, layer)?;
        let attention = self.attention(shape, layer)?;
        let Engine { config: c, buffers: b, operators: op, arena, layers, last_norm, .. } = self;
        let (tokens, inner) = (shape.tokens, c.intermediate_size);
        let hidden = [tokens, c.hidden_size];
        let normed = Place::of(&mut b.normed).view(&hidden)?;
        let update = Place::of(&mut b.update).view(&hidden)?;
        let qkv = Place::of(&mut b.qkv).view(&[tokens, c.query_size() + 2 * c.kv_size()])?;
        let attended = Place::of(&mut b.attended).view(&[tokens, c.query_size()])?;
        let both = Place::of(&mut b.gate_up).view(&[tokens, 2 * inner])?;
        let product = Place::of(&mut b.inner).view(&[tokens, inner])?;
        let residual = Place::of(&mut b.residual).view(&hidden)?;
        let norm = |weight: &mut Vec<f32>| {
            let weight = Some(Place::of(weight).view(&[c.hidden_size])?);
            let args = FusedAddRmsNormArgs { input: update, residual, weight, out: normed, epsilon: c.rms_norm_eps };
            Ok::<_, EngineError>(op.add_norm.checked(args, Workspace::NONE)?)
        };
        let next_norm = match layers.get_mut(layer + 1) {
            Some(next) => norm(&mut next.attention_norm)?,
            None => norm(last_norm)?,
        };
        let weights = &mut layers[layer];
        let activation = SiluAndMulArgs { input: both, up: None, out: product };
        Ok(LayerCalls {
            qkv: weights.qkv.call(arena, normed, qkv)?,
            rotary,
            store,
            attention,
            output: weights.output.call(arena, attended, update)?,
            mlp_norm: norm(&mut weights.mlp_norm)?,
            gate_up: weights.gate_up.call(arena, normed, both)?,
            activation: op.activation.checked(activation, Workspace::NONE)?,
            down: weights.down.call(arena, product, update)?,
            next_norm,
        })
    }

    /// The calls that turn queries and keys, and that put keys and values into their pages. Heads of a token stand side by side: queries,
    /// keys, values.
    fn placing(
        &mut self,
        Shape { tokens, .. }: Shape,
        layer: usize,
    ) -> Result<(CheckedCall<RotaryEmbedding>, CheckedCall<ReshapePagedCache>), EngineError> {
        let Engine { config: c, buffers: b, operators: op, cache, .. } = self;
        let (queries, keys) = (c.query_size(), c.kv_size());
        let qkv = Place::of(&mut b.qkv);
        let strides = [(queries + 2 * keys) as isize, c.head_dim as isize, 1];
        // Heads of queries and of keys are neighbours and are turned alike: to the operator they are one tensor's.
        let rotary = RotaryEmbeddingArgs {
            positions: Place::of(&mut b.positions).view(&[tokens])?,
            q: qkv.strided(&[tokens, c.num_heads + c.num_kv_heads, c.head_dim], &strides)?,
            k: None,
            cos_sin_cache: Place::of(&mut self.rope).view(&[self.positions, c.head_dim])?,
        };
        let rows = [tokens, c.num_kv_heads, c.head_dim];
        let [k_cache, v_cache] = cache.views(layer, c)?;
        let store = ReshapePagedCacheArgs {
            slot_mapping: Place::of(&mut b.slots).view(&[tokens])?,
            k: qkv.behind(queries).strided(&rows, &strides)?,
            v: qkv.behind(queries + keys).strided(&rows, &strides)?,
            k_scale: None,
            v_scale: None,
            k_cache,
            v_cache,
        };
        Ok((op.rotary.checked(rotary, Workspace::NONE)?, op.store.checked(store, Workspace::NONE)?))
    }

    fn attention(&mut self, shape: Shape, layer: usize) -> Result<AttentionCall, EngineError> {
        let Engine { config: c, buffers: b, operators: op, cache, .. } = self;
        let Shape { tokens, sequences, .. } = shape;
        let heads = [tokens, c.num_heads, c.head_dim];
        let width = (c.query_size() + 2 * c.kv_size()) as isize;
        let q = Place::of(&mut b.qkv).strided(&heads, &[width, c.head_dim as isize, 1])?;
        let out = Place::of(&mut b.attended).view(&heads)?;
        let [k_cache, v_cache] = cache.views(layer, c)?;
        let block_tables = Some(Place::of(&mut b.block_tables).view(&[sequences, self.pages_per_sequence])?);
        let seq_lens = Some(Place::of(&mut b.lengths).view(&[sequences])?);
        let scratch = (b.scratch.data(), b.scratch.bytes());
        let workspace = Workspace { scratch, ..Workspace::NONE };
        if shape.single() {
            let args = PagedAttentionDecodeArgs {
                q,
                k_cache,
                v_cache,
                k_scale: None,
                v_scale: None,
                block_tables,
                seq_lens,
                kv_indptr: None,
                kv_indices: None,
                last_page_len: None,
                sinks: None,
                out,
                lse: None,
                softmax_scale: 1.0,
                soft_cap: 1.0,
            };
            return Ok(AttentionCall::Decode(op.decode.checked(args, workspace)?));
        }
        let args = AttentionPrefillArgs {
            q,
            cu_seqlens_q: Place::of(&mut b.starts).view(&[sequences + 1])?,
            k: None,
            v: None,
            k_cache: Some(k_cache),
            v_cache: Some(v_cache),
            k_scale: None,
            v_scale: None,
            block_tables,
            seq_lens,
            kv_indptr: None,
            kv_indices: None,
            last_page_len: None,
            sinks: None,
            out,
            lse: None,
            softmax_scale: 1.0,
            soft_cap: 1.0,
        };
        Ok(AttentionCall::Prefill(op.prefill.checked(args, workspace)?))
    }
}
