// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The matrices: which weights are one product, in which form, and the operator that multiplies by it.

use std::ops::Range;
use std::sync::Arc;

use half::{bf16, f16};
use opweave::contract::Operator;
use opweave::ops::{
    GgufBlock, InputMode, Linear, LinearArgs, LinearProblem, LinearWna16, LinearWna16Args, LinearWna16Problem,
    WeightShape, from_gguf,
};
use opweave::{
    AnyRef, Bindings, Config as Setup, DType, Demands, DeviceId, HostStream, PackedLayout, Prepared, RawTensor,
    Request, TensorRef, Workspace, pack,
};

use super::calls::ProductCall;
use super::memory::Arena;
use super::options::{FloatForm, Options, WeightForm};
use super::{EngineError, Kernels};
use crate::checkpoint::{Checkpoint, Config, Encoding, Global, PerLayer, Weight};

/// One product of a pass: weights that have the same input are one matrix, their rows one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Product {
    /// Queries, keys and values.
    Qkv(usize),
    /// Back from attention.
    Output(usize),
    /// Both halves of the MLP.
    GateUp(usize),
    /// Back from the MLP.
    Down(usize),
    /// Logits.
    Head,
}

impl Product {
    /// The weights whose rows it has.
    fn parts(self, config: &Config) -> Vec<Weight> {
        let layer = |layer, parts: &[PerLayer]| parts.iter().map(|part| Weight::Layer(layer, *part)).collect();
        match self {
            Product::Qkv(at) => layer(at, &[PerLayer::Query, PerLayer::Key, PerLayer::Value]),
            Product::Output(at) => layer(at, &[PerLayer::Output]),
            Product::GateUp(at) => layer(at, &[PerLayer::Gate, PerLayer::Up]),
            Product::Down(at) => layer(at, &[PerLayer::Down]),
            Product::Head => vec![Weight::Global(if config.tied { Global::Embedding } else { Global::Head })],
        }
    }

    /// Every product of a pass.
    pub(super) fn all(config: &Config) -> impl Iterator<Item = Product> {
        let layer = |at| [Product::Qkv(at), Product::Output(at), Product::GateUp(at), Product::Down(at)];
        (0..config.num_layers).flat_map(layer).chain([Product::Head])
    }
}

/// The operator of a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Form {
    Float(LinearProblem),
    Codes(LinearWna16Problem, GgufBlock),
}

/// Columns of a block.
const GROUP: usize = 32;

/// The blocks of an encoding; `None` for numbers.
fn blocks(encoding: Encoding) -> Option<GgufBlock> {
    match encoding {
        Encoding::Q4_0 => Some(GgufBlock::Q4_0),
        Encoding::Q4_1 => Some(GgufBlock::Q4_1),
        Encoding::Q8_0 => Some(GgufBlock::Q8_0),
        Encoding::F32 | Encoding::F16 | Encoding::Bf16 => None,
    }
}

/// A row's bits are the same in a batch as alone: what the engine promises of its batches.
pub(super) const DEMANDS: Demands = Demands { deterministic: true, batch_invariant: true };

impl Form {
    /// The form of a product's matrix.
    pub(super) fn of(checkpoint: &Checkpoint, product: Product, options: &Options) -> Result<Form, EngineError> {
        let config = checkpoint.config();
        let parts = product.parts(config);
        let (mut rows, mut columns, mut stored) = (0, 0, Vec::new());
        for part in &parts {
            let shape = part.shape(config);
            (rows, columns) = (rows + shape[0], shape[1]);
            stored.push(checkpoint.encoding(*part)?);
        }
        // Weights of several encodings meet in numbers that hold all of them.
        let same = stored.iter().all(|encoding| *encoding == stored[0]);
        let float = match options.weights {
            WeightForm::Float(form) => Some(form),
            WeightForm::Stored if same => FloatForm::of(stored[0]),
            WeightForm::Stored => Some(FloatForm::F32),
        };
        Ok(match (float, blocks(stored[0])) {
            (None, Some(block)) => {
                let problem = LinearWna16Problem {
                    bits: block.bits(),
                    group_size: GROUP,
                    scale_dtype: DType::F16,
                    offset: block.offset(),
                    input_mode: if options.quantised_activations { InputMode::I8Block32 } else { InputMode::AsIs },
                    ..LinearWna16Problem::new(columns, rows, DType::F32)
                };
                Form::Codes(problem, block)
            }
            (float, _) => {
                let weight_dtype = float.unwrap_or(FloatForm::F32).dtype();
                Form::Float(LinearProblem { weight_dtype, ..LinearProblem::new(columns, rows, DType::F32) })
            }
        })
    }

    /// Asks for the operator.
    pub(super) fn request(self, setup: Setup) -> Setup {
        match self {
            Form::Float(problem) => setup.request(Request::<Linear>::new(problem).demands(DEMANDS)),
            Form::Codes(problem, _) => setup.request(Request::<LinearWna16>::new(problem).demands(DEMANDS)),
        }
    }
}

/// Numbers or codes, plain.
pub(super) enum Plain {
    F32(Vec<f32>),
    F16(Vec<f16>),
    Bf16(Vec<bf16>),
    Codes(Vec<u8>),
}

impl Plain {
    fn view(&self, shape: [usize; 2]) -> Result<AnyRef<'_>, EngineError> {
        Ok(match self {
            Plain::F32(values) => TensorRef::new(values, &shape)?.into(),
            Plain::F16(values) => TensorRef::new(values, &shape)?.into(),
            Plain::Bf16(values) => TensorRef::new(values, &shape)?.into(),
            Plain::Codes(values) => TensorRef::new(values, &shape)?.into(),
        })
    }

    fn bytes(&self) -> usize {
        match self {
            Plain::F32(values) => size_of_val(values.as_slice()),
            Plain::F16(values) => size_of_val(values.as_slice()),
            Plain::Bf16(values) => size_of_val(values.as_slice()),
            Plain::Codes(values) => values.len(),
        }
    }
}

/// A weight as its operator reads it: packed once, in a part of the arena, or plain where the plan has no layout.
pub(super) enum Stored {
    Plain(Plain, [usize; 2]),
    Packed(Range<usize>, PackedLayout),
}

impl Stored {
    fn new<O: Operator>(
        op: &Prepared<O>,
        (plain, shape): (Plain, [usize; 2]),
        arena: &mut Arena,
        stream: &HostStream,
    ) -> Result<Self, EngineError> {
        let Some(layout) = op.packed() else { return Ok(Stored::Plain(plain, shape)) };
        let part = arena.take(layout.bytes);
        let layout = pack(op, plain.view(shape)?, arena.get_mut(&part), stream)?;
        Ok(Stored::Packed(part, layout))
    }

    fn view<'a>(&'a self, arena: &'a Arena) -> Result<AnyRef<'a>, EngineError> {
        match self {
            Stored::Plain(plain, shape) => plain.view(*shape),
            Stored::Packed(part, layout) => Ok(AnyRef::packed(arena.get(part), layout.id)),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Stored::Plain(plain, _) => plain.bytes(),
            Stored::Packed(part, _) => part.len(),
        }
    }
}

/// A matrix and the operator that multiplies by it.
pub(super) enum Matrix {
    Float { op: Arc<Prepared<Linear>>, weight: Stored },
    Codes { op: Arc<Prepared<LinearWna16>>, weight: Stored, scales: Range<usize>, minima: Range<usize>, groups: usize },
}

impl Matrix {
    /// Bytes of the arena that a product's matrix takes.
    pub(super) fn room(form: Form, bindings: &Bindings) -> Result<usize, EngineError> {
        let packed = |layout: Option<&PackedLayout>| layout.map_or(0, |layout| Arena::part(layout.bytes));
        Ok(match form {
            Form::Float(problem) => packed(bindings.prepared::<Linear>(DeviceId::CPU, &problem)?.packed()),
            Form::Codes(problem, _) => {
                let op = bindings.prepared::<LinearWna16>(DeviceId::CPU, &problem)?;
                let halves = Arena::rows(problem.in_features / GROUP, problem.out_features);
                packed(op.packed()) + 2 * Arena::part(halves)
            }
        })
    }

    /// Reads the weights of a product and packs them.
    pub(super) fn load(
        checkpoint: &mut Checkpoint,
        (product, form): (Product, Form),
        bindings: &Bindings,
        arena: &mut Arena,
        stream: &HostStream,
    ) -> Result<Self, EngineError> {
        let parts = product.parts(checkpoint.config());
        match form {
            Form::Float(problem) => {
                let op = bindings.prepared::<Linear>(DeviceId::CPU, &problem)?;
                let shape = [problem.out_features, problem.in_features];
                let mut values: Vec<f32> = Vec::with_capacity(shape[0] * shape[1]);
                for part in parts {
                    let tensor = checkpoint.read(part)?;
                    tensor.encoding.decode(&tensor.bytes, &mut values);
                }
                let plain = match problem.weight_dtype {
                    DType::F16 => Plain::F16(values.iter().map(|v| f16::from_f32(*v)).collect()),
                    DType::BF16 => Plain::Bf16(values.iter().map(|v| bf16::from_f32(*v)).collect()),
                    _ => Plain::F32(values),
                };
                Ok(Matrix::Float { weight: Stored::new(&op, (plain, shape), arena, stream)?, op })
            }
            Form::Codes(problem, block) => {
                let op = bindings.prepared::<LinearWna16>(DeviceId::CPU, &problem)?;
                let mut bytes = Vec::new();
                for part in parts {
                    bytes.extend(checkpoint.read(part)?.bytes);
                }
                let (rows, columns) = (problem.out_features, problem.in_features);
                let split = from_gguf(block, &bytes, WeightShape::new(columns, rows))?;
                let shape = [rows, columns * problem.bits / 8];
                let weight = Stored::new(&op, (Plain::Codes(split.codes), shape), arena, stream)?;
                let (scales, minima) = (arena.keep(&split.scales, rows), arena.keep(&split.minima, rows));
                Ok(Matrix::Codes { op, weight, scales, minima, groups: columns / GROUP })
            }
        }
    }

    /// The call of `out = input weight^T`.
    pub(super) fn call(&self, arena: &Arena, input: RawTensor, out: RawTensor) -> Result<ProductCall, EngineError> {
        Ok(match self {
            Matrix::Float { op, weight } => {
                let args = LinearArgs { input, weight: weight.view(arena)?.raw(), bias: None, out };
                ProductCall::Float(op.checked(args, Workspace::NONE)?)
            }
            Matrix::Codes { op, weight, scales, minima, groups } => {
                let width = op.problem().out_features;
                let (shape, strides) = ([*groups, width], [Arena::stride(width) as isize, 1]);
                let by_group = |part| TensorRef::strided(arena.halves(part), &shape, &strides).map(|view| view.raw());
                let args = LinearWna16Args {
                    input,
                    weight: weight.view(arena)?.raw(),
                    scales: by_group(scales)?,
                    offsets: if minima.is_empty() { None } else { Some(by_group(minima)?) },
                    bias: None,
                    out,
                };
                ProductCall::Codes(op.checked(args, Workspace::NONE)?)
            }
        })
    }

    /// Bytes that a product with it reads.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Matrix::Float { weight, .. } => weight.bytes(),
            Matrix::Codes { op, weight, minima, groups, .. } => {
                let halves = groups * op.problem().out_features * size_of::<f16>();
                weight.bytes() + if minima.is_empty() { halves } else { 2 * halves }
            }
        }
    }

    /// Which kernel multiplies.
    pub(super) fn kernels(&self, kernels: &mut Kernels) {
        match self {
            Matrix::Float { op, .. } => kernels.add(op),
            Matrix::Codes { op, .. } => kernels.add(op),
        }
    }
}
