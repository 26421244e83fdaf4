// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The engine: what opweave leaves to its users, in one place. It prepares its operators once, packs its weights, owns the
//! cache and the memory of a pass, and then calls operators, one after the other.

mod buffers;
mod cache;
mod calls;
mod clock;
mod error;
mod explain;
mod forward;
mod matrix;
mod memory;
mod operators;
mod options;
mod rope;
mod sampler;

use std::collections::HashSet;

use opweave::{Bindings, Config as Setup, HostStream, host_stream};

pub use self::clock::{Clock, Part, Spent};
pub use self::error::EngineError;
pub use self::explain::{Choice, Kernels};
pub use self::forward::{Wanted, Work};
pub use self::options::{FloatForm, Options, WeightForm};
pub use self::sampler::Policy;

use self::buffers::Buffers;
use self::cache::Cache;
use self::calls::Calls;
use self::matrix::{Form, Matrix, Product};
use self::memory::Arena;
use self::operators::{Operators, Problems};
use self::sampler::Draws;
use crate::checkpoint::{Checkpoint, Config, Global, PerLayer, Weight};

/// The weights of a layer.
struct Layer {
    attention_norm: Vec<f32>,
    qkv: Matrix,
    output: Matrix,
    mlp_norm: Vec<f32>,
    gate_up: Matrix,
    down: Matrix,
}

/// A model, ready to decode.
pub struct Engine {
    config: Config,
    pages_per_sequence: usize,
    /// Positions of the rotary table.
    positions: usize,
    table: Vec<f32>,
    /// All matrices.
    arena: Arena,
    layers: Vec<Layer>,
    last_norm: Vec<f32>,
    head: Matrix,
    rope: Vec<f32>,
    operators: Operators,
    cache: Cache,
    buffers: Buffers,
    calls: Calls,
    next: Vec<u32>,
    draws: Draws,
    clock: Clock,
    stream: HostStream,
    bindings: std::sync::Arc<Bindings>,
}

impl Engine {
    /// Prepares every operator, then reads and packs the weights, one at a time.
    ///
    /// # Errors
    /// [`EngineError`]: an option outside its legal set, an operator that no kernel serves, a weight that cannot be read.
    pub fn new(checkpoint: &mut Checkpoint, options: &Options) -> Result<Self, EngineError> {
        let config = checkpoint.config().clone();
        options.check(&config)?;
        let mut forms = HashSet::new();
        let mut setup = Setup::new();
        for product in Product::all(&config) {
            let form = Form::of(checkpoint, product, options)?;
            // Layers share what they have in common.
            if forms.insert(form) {
                setup = form.request(setup);
            }
        }
        let problems = Problems::new(&config, options);
        let bindings = opweave::runtime().initialize(&problems.request(setup))?;
        let operators = problems.prepared(&bindings)?;
        let stream = host_stream(options.threads)?;

        let mut room = 0;
        for product in Product::all(&config) {
            room += Matrix::room(Form::of(checkpoint, product, options)?, &bindings)?;
        }
        let mut arena = Arena::new(room)?;
        let mut matrix = |checkpoint: &mut Checkpoint, product| {
            let form = Form::of(checkpoint, product, options)?;
            Matrix::load(checkpoint, (product, form), &bindings, &mut arena, &stream)
        };
        let vector = |checkpoint: &mut Checkpoint, weight| checkpoint.read(weight).map(|tensor| tensor.to_f32());
        let mut layers = Vec::with_capacity(config.num_layers);
        for layer in 0..config.num_layers {
            layers.push(Layer {
                attention_norm: vector(checkpoint, Weight::Layer(layer, PerLayer::AttentionNorm))?,
                qkv: matrix(checkpoint, Product::Qkv(layer))?,
                output: matrix(checkpoint, Product::Output(layer))?,
                mlp_norm: vector(checkpoint, Weight::Layer(layer, PerLayer::MlpNorm))?,
                gate_up: matrix(checkpoint, Product::GateUp(layer))?,
                down: matrix(checkpoint, Product::Down(layer))?,
            });
        }
        let head = matrix(checkpoint, Product::Head)?;
        Ok(Engine {
            table: vector(checkpoint, Weight::Global(Global::Embedding))?,
            last_norm: vector(checkpoint, Weight::Global(Global::Norm))?,
            arena,
            head,
            layers,
            rope: rope::table(&config, options.context)?,
            positions: options.context,
            pages_per_sequence: options.pages(),
            cache: Cache::new(&config, options),
            buffers: Buffers::new(&config, options, operators.scratch())?,
            calls: Calls::new(config.num_layers),
            next: vec![0; options.sequences],
            draws: Draws::new(options.sequences),
            clock: Clock::default(),
            operators,
            config,
            stream,
            bindings,
        })
    }

    /// What the model is made of.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What was prepared.
    pub fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    /// Positions of a sequence that are filled.
    ///
    /// # Errors
    /// [`EngineError::Limit`] for a sequence that there is not.
    pub fn length(&self, sequence: usize) -> Result<usize, EngineError> {
        self.cache.length(sequence)
    }

    /// Forgets a sequence.
    ///
    /// # Errors
    /// As [`Engine::length`].
    pub fn clear(&mut self, sequence: usize) -> Result<(), EngineError> {
        self.cache.clear(sequence)
    }

    /// Where the time went.
    pub fn clock(&mut self) -> &mut Clock {
        &mut self.clock
    }

    /// Bytes of weights that decoding one token reads: all matrices, once.
    pub fn bytes_per_token(&self) -> usize {
        let layer = |l: &Layer| l.qkv.bytes() + l.output.bytes() + l.gate_up.bytes() + l.down.bytes();
        self.layers.iter().map(layer).sum::<usize>() + self.head.bytes()
    }

    /// Which kernel runs each operator, and why.
    pub fn kernels(&self) -> Kernels {
        let mut kernels = Kernels::default();
        self.operators.kernels(&mut kernels);
        for layer in &self.layers {
            for matrix in [&layer.qkv, &layer.output, &layer.gate_up, &layer.down] {
                matrix.kernels(&mut kernels);
            }
        }
        self.head.kernels(&mut kernels);
        kernels
    }
}
