// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One pass: tokens in, logits out.

use opweave::ops::{
    AttentionOptions, PagedKeys, Pages, PrefillKeys, Queries, attention_prefill, embedding, fused_add_rms_norm,
    paged_attention_decode, reshape_paged_cache, rms_norm, rotary_embedding, silu_and_mul,
};
use opweave::{AnyRef, Output, TensorMut, TensorRef};

use super::clock::Part;
use super::error::limit;
use super::{Engine, EngineError};

/// New tokens of one sequence.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// Which sequence.
    pub sequence: usize,
    /// What follows in it; at least one token.
    pub tokens: &'a [u32],
}

/// Of which positions logits are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Of the last token of each sequence.
    Last,
    /// Of every token; the engine must be made for it.
    All,
}

impl Engine {
    /// Runs the new tokens of some sequences through the model, and keeps their keys and values. Gives logits, a row of
    /// [`vocab_size`](crate::checkpoint::Config::vocab_size) for each wanted position, in the order of the work.
    ///
    /// # Errors
    /// [`EngineError`]; before anything is changed for a token, a sequence or a number that is not legal.
    pub fn forward(&mut self, work: &[Work<'_>], wanted: Wanted) -> Result<&[f32], EngineError> {
        let (tokens, rows) = self.admit(work, wanted)?;
        let single = work.iter().all(|work| work.tokens.len() == 1);
        self.place(work);
        self.embed(tokens)?;
        for layer in 0..self.layers.len() {
            self.attend(layer, tokens, work.len(), single)?;
            self.transform(layer, tokens)?;
        }
        self.logits(tokens, rows, wanted)
    }

    /// Checks the work: the number of its tokens, and of the rows of logits.
    fn admit(&self, work: &[Work<'_>], wanted: Wanted) -> Result<(usize, usize), EngineError> {
        let vocab_size = self.config.vocab_size;
        let tokens: usize = work.iter().map(|work| work.tokens.len()).sum();
        let most = self.buffers.ids.capacity();
        if tokens == 0 || tokens > most {
            return Err(limit("the number of tokens in a pass", tokens, format!("1 to {most}")));
        }
        for (at, Work { sequence, tokens }) in work.iter().enumerate() {
            self.cache.check(*sequence, tokens.len())?;
            if work[..at].iter().any(|earlier| earlier.sequence == *sequence) {
                return Err(limit("the sequence", *sequence, "one that is not in the pass already"));
            }
            if let Some(token) = tokens.iter().find(|token| **token as usize >= vocab_size) {
                return Err(EngineError::Token { token: *token, vocab_size });
            }
        }
        let rows = if wanted == Wanted::All { tokens } else { work.len() };
        let room = self.buffers.logits.len() / vocab_size;
        if rows > room {
            return Err(limit("the number of rows of logits", rows, format!("1 to {room}")));
        }
        Ok((tokens, rows))
    }

    /// Gives every token its position and its slot, and fills in the tables of the pass.
    fn place(&mut self, work: &[Work<'_>]) {
        let b = &mut self.buffers;
        b.ids.clear();
        b.positions.clear();
        b.slots.clear();
        b.starts.clear();
        b.lengths.clear();
        b.block_tables.clear();
        b.starts.push(0);
        for Work { sequence, tokens } in work {
            b.ids.extend(tokens.iter().map(|token| *token as i32));
            self.cache.extend(*sequence, tokens.len(), |position, slot| {
                b.positions.push(position as i64);
                b.slots.push(slot as i64);
            });
            b.starts.push(b.ids.len() as i32);
            let pages = self.cache.pages_of(*sequence);
            b.lengths.push(b.positions.last().map_or(0, |last| *last as i32 + 1));
            b.block_tables.extend(pages);
            // Entries past a sequence's pages are not looked at.
            b.block_tables.extend(std::iter::repeat_n(0, self.pages_per_sequence - pages.len()));
        }
    }

    fn embed(&mut self, tokens: usize) -> Result<(), EngineError> {
        let Engine { config, buffers: b, operators: op, clock, stream, .. } = self;
        let shape = [tokens, config.hidden_size];
        let table = TensorRef::new(&self.table, &[config.vocab_size, config.hidden_size])?;
        let residual = TensorMut::new(&mut b.residual[..tokens * config.hidden_size], &shape)?;
        let ids = TensorRef::new(&b.ids, &[tokens])?;
        clock.time(Part::Embedding, || embedding(&op.embedding, ids, table, residual, stream))?;
        let hidden = tokens * config.hidden_size;
        let rows = Output::apart(
            TensorRef::new(&b.residual[..hidden], &shape)?,
            TensorMut::new(&mut b.normed[..hidden], &shape)?,
        );
        let scale = TensorRef::new(&self.layers[0].attention_norm, &[config.hidden_size])?;
        let eps = config.rms_norm_eps;
        clock.time(Part::Norm, || rms_norm(&op.norm, rows, Some(scale.into()), eps, stream))?;
        Ok(())
    }

    /// Attention of a layer, and the norm behind it.
    fn attend(&mut self, layer: usize, tokens: usize, sequences: usize, single: bool) -> Result<(), EngineError> {
        let Engine { config: c, buffers: b, operators: op, clock, stream, arena, .. } = self;
        let weights = &self.layers[layer];
        let (hidden, queries, keys) = (c.hidden_size, c.query_size(), c.kv_size());
        let width = queries + 2 * keys;
        let normed = TensorRef::new(&b.normed[..tokens * hidden], &[tokens, hidden])?;
        let qkv = &mut b.qkv[..tokens * width];
        let out = TensorMut::new(qkv, &[tokens, width])?;
        clock.time(Part::Qkv, || weights.qkv.multiply(arena, normed, out, stream))?;

        // Heads of a token stand side by side: queries, keys, values.
        let strides = [width as isize, c.head_dim as isize, 1];
        let q_shape = [tokens, c.num_heads, c.head_dim];
        let kv_shape = [tokens, c.num_kv_heads, c.head_dim];
        let positions = TensorRef::new(&b.positions, &[tokens])?;
        let table = TensorRef::new(&self.rope, &[self.positions, c.head_dim])?;
        // Heads of queries and of keys are neighbours and are turned alike: to the operator they are one tensor's.
        let turned = [tokens, c.num_heads + c.num_kv_heads, c.head_dim];
        let turned = TensorMut::strided(qkv, &turned, &strides)?;
        clock.time(Part::Rotary, || rotary_embedding(&op.rotary, positions, turned, None, table, stream))?;
        let cache_shape = [self.cache.pages, self.page_size, c.num_kv_heads, c.head_dim];
        let kept = &mut self.cache.layers[layer];
        {
            let rows: [AnyRef<'_>; 2] = [
                TensorRef::strided(&qkv[queries..], &kv_shape, &strides)?.into(),
                TensorRef::strided(&qkv[queries + keys..], &kv_shape, &strides)?.into(),
            ];
            let caches =
                [TensorMut::new(&mut kept.k, &cache_shape)?.into(), TensorMut::new(&mut kept.v, &cache_shape)?.into()];
            let slots = TensorRef::new(&b.slots, &[tokens])?;
            clock.time(Part::Store, || reshape_paged_cache(&op.store, slots, rows, caches, None, stream))?;
        }
        let pages = Pages::BlockTables {
            block_tables: TensorRef::new(&b.block_tables, &[sequences, self.pages_per_sequence])?.into(),
            seq_lens: TensorRef::new(&b.lengths, &[sequences])?.into(),
        };
        let paged = PagedKeys {
            k_cache: TensorRef::new(&kept.k, &cache_shape)?.into(),
            v_cache: TensorRef::new(&kept.v, &cache_shape)?.into(),
            scales: None,
            pages,
        };
        let q = TensorRef::strided(qkv, &q_shape, &strides)?;
        let out = TensorMut::new(&mut b.attended[..tokens * queries], &q_shape)?;
        let options =
            AttentionOptions { workspace: b.scratch.elements_mut().unwrap_or_default(), ..AttentionOptions::default() };
        if single {
            clock.time(Part::Attention, || paged_attention_decode(&op.decode, q, paged, options, out, None, stream))?;
        } else {
            let starts = TensorRef::new(&b.starts, &[sequences + 1])?;
            let queries = Queries { q: q.into(), cu_seqlens: starts.into() };
            let keys = PrefillKeys::Paged(paged);
            clock
                .time(Part::Attention, || attention_prefill(&op.prefill, queries, keys, options, out, None, stream))?;
        }
        let attended = TensorRef::new(&b.attended[..tokens * queries], &[tokens, queries])?;
        let update = TensorMut::new(&mut b.update[..tokens * hidden], &[tokens, hidden])?;
        clock.time(Part::Output, || weights.output.multiply(arena, attended, update, stream))?;
        self.add_and_norm(tokens, layer, true)
    }

    /// The MLP of a layer, and the norm behind it: the next layer's first, or the last of all.
    fn transform(&mut self, layer: usize, tokens: usize) -> Result<(), EngineError> {
        let Engine { config: c, buffers: b, operators: op, clock, stream, arena, .. } = self;
        let weights = &self.layers[layer];
        let (hidden, inner) = (c.hidden_size, c.intermediate_size);
        let normed = TensorRef::new(&b.normed[..tokens * hidden], &[tokens, hidden])?;
        let both = TensorMut::new(&mut b.gate_up[..tokens * 2 * inner], &[tokens, 2 * inner])?;
        clock.time(Part::GateUp, || weights.gate_up.multiply(arena, normed, both, stream))?;
        let both = TensorRef::new(&b.gate_up[..tokens * 2 * inner], &[tokens, 2 * inner])?;
        let product = TensorMut::new(&mut b.inner[..tokens * inner], &[tokens, inner])?;
        clock.time(Part::Activation, || silu_and_mul(&op.activation, both, None, product, stream))?;
        let product = TensorRef::new(&b.inner[..tokens * inner], &[tokens, inner])?;
        let update = TensorMut::new(&mut b.update[..tokens * hidden], &[tokens, hidden])?;
        clock.time(Part::Down, || weights.down.multiply(arena, product, update, stream))?;
        self.add_and_norm(tokens, layer, false)
    }

    /// `residual += update`, and the norm of it that comes next.
    fn add_and_norm(&mut self, tokens: usize, layer: usize, inside: bool) -> Result<(), EngineError> {
        let Engine { config: c, buffers: b, operators: op, clock, stream, .. } = self;
        let scale = match self.layers.get(layer + 1) {
            _ if inside => &self.layers[layer].mlp_norm,
            Some(next) => &next.attention_norm,
            None => &self.last_norm,
        };
        let (elements, shape) = (tokens * c.hidden_size, [tokens, c.hidden_size]);
        let rows = Output::apart(
            TensorRef::new(&b.update[..elements], &shape)?,
            TensorMut::new(&mut b.normed[..elements], &shape)?,
        );
        let residual = TensorMut::new(&mut b.residual[..elements], &shape)?;
        let scale = TensorRef::new(scale, &[c.hidden_size])?;
        let eps = c.rms_norm_eps;
        clock.time(Part::Norm, || fused_add_rms_norm(&op.add_norm, rows, residual, Some(scale.into()), eps, stream))?;
        Ok(())
    }

    fn logits(&mut self, tokens: usize, rows: usize, wanted: Wanted) -> Result<&[f32], EngineError> {
        let Engine { config: c, buffers: b, clock, stream, arena, .. } = self;
        let hidden = c.hidden_size;
        let input = if wanted == Wanted::All {
            &b.normed[..tokens * hidden]
        } else {
            for (row, end) in b.starts[1..].iter().enumerate() {
                let from = (*end as usize - 1) * hidden;
                b.last[row * hidden..][..hidden].copy_from_slice(&b.normed[from..from + hidden]);
            }
            &b.last[..rows * hidden]
        };
        let input = TensorRef::new(input, &[rows, hidden])?;
        let out = TensorMut::new(&mut b.logits[..rows * c.vocab_size], &[rows, c.vocab_size])?;
        clock.time(Part::Head, || self.head.multiply(arena, input, out, stream))?;
        Ok(&self.buffers.logits[..rows * self.config.vocab_size])
    }
}
