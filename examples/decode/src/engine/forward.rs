// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One pass: tokens in, logits out.

use opweave::StreamRef;

use super::calls::{Call, Shape};
use super::clock::{Clock, Part};
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
        let shape = self.admit(work, wanted)?;
        self.place(work);
        self.check(shape)?;
        self.run(shape)?;
        Ok(&self.buffers.logits[..shape.rows * self.config.vocab_size])
    }

    /// Checks the work, and answers what its calls follow from.
    fn admit(&self, work: &[Work<'_>], wanted: Wanted) -> Result<Shape, EngineError> {
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
        Ok(Shape { tokens, sequences: work.len(), rows })
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

    /// Makes the calls of a pass, which were checked.
    fn run(&mut self, shape: Shape) -> Result<(), EngineError> {
        let Engine { config, buffers: b, calls, clock, stream, .. } = self;
        let Some(outer) = &calls.outer else { return Ok(()) };
        let mut run = Run { clock, stream: StreamRef::host(stream) };
        run.make(Part::Embedding, &outer.embedding, &outer.norm)?;
        run.make(Part::Norm, &outer.norm, calls.layers.first().map_or(&outer.head, |layer| &layer.qkv))?;
        for (at, layer) in calls.layers.iter().enumerate() {
            run.make(Part::Qkv, &layer.qkv, &layer.rotary)?;
            run.make(Part::Rotary, &layer.rotary, &layer.store)?;
            run.make(Part::Store, &layer.store, &layer.attention)?;
            run.make(Part::Attention, &layer.attention, &layer.output)?;
            run.make(Part::Output, &layer.output, &layer.mlp_norm)?;
            run.make(Part::Norm, &layer.mlp_norm, &layer.gate_up)?;
            run.make(Part::GateUp, &layer.gate_up, &layer.activation)?;
            run.make(Part::Activation, &layer.activation, &layer.down)?;
            run.make(Part::Down, &layer.down, &layer.next_norm)?;
            let next = calls.layers.get(at + 1).map_or(&outer.head, |next| &next.qkv);
            run.make(Part::Norm, &layer.next_norm, next)?;
        }
        if !shape.all() {
            let hidden = config.hidden_size;
            for (row, end) in b.starts[1..].iter().enumerate() {
                let from = (*end as usize - 1) * hidden;
                b.last[row * hidden..][..hidden].copy_from_slice(&b.normed[from..from + hidden]);
            }
        }
        run.make(Part::Head, &outer.head, &outer.embedding)
    }
}

/// A pass under way.
struct Run<'a> {
    clock: &'a mut Clock,
    stream: StreamRef<'a>,
}

impl Run<'_> {
    /// Makes a call, and has the one after it fetched meanwhile.
    #[inline(always)]
    fn make(&mut self, part: Part, call: &impl Call, next: &impl Call) -> Result<(), EngineError> {
        let stream = self.stream;
        next.fetch();
        // SAFETY: the views of all calls of an engine are of its own vectors and blocks, which keep their place and are initialised as far as
        // the pass goes, and which nobody else uses while it is borrowed exclusively; its stream never captures, so the work has
        // finished when this returns.
        self.clock.time(part, || unsafe { call.enqueue(stream) })?;
        Ok(())
    }
}
