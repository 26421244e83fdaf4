// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A small Llama in candle gives the same logits with opweave's operators and without them.

use candle_core::{D, DType, Device, Result, Tensor};
use opweave_candle::{Activation, FusedAddRmsNorm, GatedActivation, RmsNorm, Rotary, RotaryStyle, Session, Softmax};

const HIDDEN: usize = 64;
const HEADS: usize = 4;
const DIM: usize = 16;
const INNER: usize = 96;
const LAYERS: usize = 3;
const VOCABULARY: usize = 101;
const TOKENS: usize = 11;
const EPS: f32 = 1e-5;

fn noise(seed: &mut u32, shape: &[usize], scale: f64) -> Result<Tensor> {
    let mut next = || {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*seed >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| next()).collect();
    Tensor::from_vec(values, shape, &Device::Cpu)? * scale
}

struct Layer {
    input_norm: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    post_norm: Tensor,
    gate_up: Tensor,
    down: Tensor,
}

struct Model {
    embedding: Tensor,
    layers: Vec<Layer>,
    norm: Tensor,
    cos: Tensor,
    sin: Tensor,
}

impl Model {
    fn new(dtype: DType) -> Result<Model> {
        let seed = &mut 7;
        let mut weight =
            |shape: &[usize]| noise(seed, shape, 1.7 / (shape[shape.len() - 1] as f64).sqrt())?.to_dtype(dtype);
        let mut layers = Vec::new();
        for _ in 0..LAYERS {
            layers.push(Layer {
                input_norm: (weight(&[HIDDEN])? + 1.0)?,
                q: weight(&[HIDDEN, HIDDEN])?,
                k: weight(&[HIDDEN, HIDDEN])?,
                v: weight(&[HIDDEN, HIDDEN])?,
                o: weight(&[HIDDEN, HIDDEN])?,
                post_norm: (weight(&[HIDDEN])? + 1.0)?,
                gate_up: weight(&[2 * INNER, HIDDEN])?,
                down: weight(&[HIDDEN, INNER])?,
            });
        }
        let (embedding, norm) = (weight(&[VOCABULARY, HIDDEN])?, (weight(&[HIDDEN])? + 1.0)?);
        let angles: Vec<f32> = (0..TOKENS)
            .flat_map(|t| (0..DIM / 2).map(move |i| t as f32 / 10_000_f32.powf(2.0 * i as f32 / DIM as f32)))
            .collect();
        let angles = Tensor::from_vec(angles, (TOKENS, DIM / 2), &Device::Cpu)?;
        Ok(Model { embedding, layers, norm, cos: angles.cos()?.to_dtype(dtype)?, sin: angles.sin()?.to_dtype(dtype)? })
    }

    /// Logits of all positions, `[TOKENS, VOCABULARY]`, with the given operators.
    fn logits(&self, ids: &Tensor, ops: &impl Operators) -> Result<Tensor> {
        let mut residual = self.embedding.index_select(ids, 0)?;
        let mut x = ops.norm(&residual, &self.layers[0].input_norm)?;
        for (at, layer) in self.layers.iter().enumerate() {
            let heads = |w: &Tensor| x.matmul(&w.t()?)?.reshape((TOKENS, HEADS, DIM));
            let q = ops.rotate(&heads(&layer.q)?, &self.cos, &self.sin)?.transpose(0, 1)?.contiguous()?;
            let k = ops.rotate(&heads(&layer.k)?, &self.cos, &self.sin)?.transpose(0, 1)?.contiguous()?;
            let v = heads(&layer.v)?.transpose(0, 1)?.contiguous()?;
            let scores = (q.matmul(&k.t()?)? * (DIM as f64).powf(-0.5))?;
            let p = ops.softmax(&scores.broadcast_add(&mask(scores.dtype())?)?)?;
            let attended = p.matmul(&v)?.transpose(0, 1)?.reshape((TOKENS, HIDDEN))?.matmul(&layer.o.t()?)?;
            let (sum, normed) = ops.add_norm(&attended, &residual, &layer.post_norm)?;
            let inner = ops.swiglu(&normed.matmul(&layer.gate_up.t()?)?)?.matmul(&layer.down.t()?)?;
            let next = self.layers.get(at + 1).map_or(&self.norm, |next| &next.input_norm);
            (residual, x) = ops.add_norm(&inner, &sum, next)?;
        }
        x.matmul(&self.embedding.t()?)
    }
}

fn mask(dtype: DType) -> Result<Tensor> {
    let of = |i: usize, j: usize| if j > i { f32::NEG_INFINITY } else { 0.0 };
    let values: Vec<f32> = (0..TOKENS).flat_map(|i| (0..TOKENS).map(move |j| of(i, j))).collect();
    Tensor::from_vec(values, (1, TOKENS, TOKENS), &Device::Cpu)?.to_dtype(dtype)
}

trait Operators {
    fn norm(&self, x: &Tensor, w: &Tensor) -> Result<Tensor>;
    fn add_norm(&self, x: &Tensor, residual: &Tensor, w: &Tensor) -> Result<(Tensor, Tensor)>;
    fn swiglu(&self, gate_up: &Tensor) -> Result<Tensor>;
    fn softmax(&self, x: &Tensor) -> Result<Tensor>;
    fn rotate(&self, x: &Tensor, cos: &Tensor, sin: &Tensor) -> Result<Tensor>;
}

struct Candle;

impl Operators for Candle {
    fn norm(&self, x: &Tensor, w: &Tensor) -> Result<Tensor> {
        candle_nn::ops::rms_norm(x, w, EPS)
    }
    fn add_norm(&self, x: &Tensor, residual: &Tensor, w: &Tensor) -> Result<(Tensor, Tensor)> {
        let sum = (x + residual)?;
        Ok((sum.clone(), self.norm(&sum, w)?))
    }
    fn swiglu(&self, gate_up: &Tensor) -> Result<Tensor> {
        candle_nn::ops::swiglu(gate_up)
    }
    fn softmax(&self, x: &Tensor) -> Result<Tensor> {
        candle_nn::ops::softmax(x, D::Minus1)
    }
    fn rotate(&self, x: &Tensor, cos: &Tensor, sin: &Tensor) -> Result<Tensor> {
        let x = x.transpose(0, 1)?.unsqueeze(0)?.contiguous()?;
        candle_nn::rotary_emb::rope(&x, cos, sin)?.squeeze(0)?.transpose(0, 1)
    }
}

struct Opweave {
    norm: RmsNorm,
    add_norm: FusedAddRmsNorm,
    swiglu: GatedActivation,
    softmax: Softmax,
    rotary: Rotary,
}

impl Opweave {
    fn new(threads: usize, dtype: DType) -> Result<Opweave> {
        let session = Session::new(threads)?;
        Ok(Opweave {
            norm: RmsNorm::new(&session, HIDDEN, dtype, EPS)?,
            add_norm: FusedAddRmsNorm::new(&session, HIDDEN, dtype, EPS)?,
            swiglu: GatedActivation::packed(&session, Activation::Silu, INNER, dtype)?,
            softmax: Softmax::new(&session, TOKENS, dtype)?,
            rotary: Rotary::new(&session, HEADS, DIM, dtype, RotaryStyle::Neox)?,
        })
    }
}

impl Operators for Opweave {
    fn norm(&self, x: &Tensor, w: &Tensor) -> Result<Tensor> {
        self.norm.forward(x, w)
    }
    fn add_norm(&self, x: &Tensor, residual: &Tensor, w: &Tensor) -> Result<(Tensor, Tensor)> {
        self.add_norm.forward(x, residual, w)
    }
    fn swiglu(&self, gate_up: &Tensor) -> Result<Tensor> {
        self.swiglu.forward(gate_up)
    }
    fn softmax(&self, x: &Tensor) -> Result<Tensor> {
        self.softmax.forward(x)
    }
    fn rotate(&self, x: &Tensor, cos: &Tensor, sin: &Tensor) -> Result<Tensor> {
        let positions = Tensor::arange(0_i64, TOKENS as i64, &Device::Cpu)?;
        self.rotary.forward(x, &Tensor::cat(&[cos, sin], 1)?, &positions)
    }
}

fn relative_error(a: &Tensor, b: &Tensor) -> Result<f32> {
    let (a, b) = (a.to_dtype(DType::F32)?, b.to_dtype(DType::F32)?);
    let norm = |t: &Tensor| t.sqr()?.sum_all()?.sqrt()?.to_scalar::<f32>();
    Ok(norm(&(a - &b)?)? / norm(&b)?)
}

#[test]
fn a_model_gives_the_same_logits_with_and_without() -> Result<()> {
    let ids = Tensor::new(&[3_u32, 100, 0, 41, 41, 7, 99, 12, 58, 3, 64], &Device::Cpu)?;
    for (dtype, bound) in [(DType::F32, 1e-5), (DType::BF16, 3e-2), (DType::F16, 4e-3)] {
        let model = Model::new(dtype)?;
        let theirs = model.logits(&ids, &Candle)?;
        let ours = model.logits(&ids, &Opweave::new(1, dtype)?)?;
        let error = relative_error(&ours, &theirs)?;
        assert!(error < bound, "{dtype:?}: {error}");
        // The number of threads changes nothing.
        let again = model.logits(&ids, &Opweave::new(3, dtype)?)?;
        assert_eq!(again.to_dtype(DType::F32)?.to_vec2::<f32>()?, ours.to_dtype(DType::F32)?.to_vec2::<f32>()?);
    }
    Ok(())
}
