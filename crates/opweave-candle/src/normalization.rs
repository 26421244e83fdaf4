// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Norms.

use candle_core::{CpuStorage, CustomOp1, CustomOp2, CustomOp3, DType, Error, Layout, Result, Shape, Tensor};
use opweave::ops::{self, FusedAddRmsNormProblem, LayerNormProblem, RmsNormProblem};
use opweave::{Output, TensorMut};

use crate::rows::{Number, Rows, vector};
use crate::session::{Ready, Session, by_dtype, dtype};

/// `x * rsqrt(mean(x^2) + epsilon) * weight` over the last dimension, in f32 and rounded once.
#[derive(Clone, Debug)]
pub struct RmsNorm {
    ready: Ready<ops::RmsNorm>,
    epsilon: f32,
}

impl RmsNorm {
    /// Prepares it for rows of `hidden_size` elements; the weight has the dtype of the rows.
    ///
    /// # Errors
    /// A dtype or a width that the operator does not have.
    pub fn new(session: &Session, hidden_size: usize, dtype_of_rows: DType, epsilon: f32) -> Result<Self> {
        let problem = RmsNormProblem::new(hidden_size, dtype(dtype_of_rows)?);
        Ok(RmsNorm { ready: Ready::new(session, problem)?, epsilon })
    }

    /// The kernel that was chosen.
    pub fn kernel(&self) -> &str {
        self.ready.kernel()
    }

    /// The norm of `x`, `[.., hidden_size]`, with `weight`, `[hidden_size]`.
    ///
    /// # Errors
    /// Shapes, dtypes or strides that were not prepared for.
    pub fn forward(&self, x: &Tensor, weight: &Tensor) -> Result<Tensor> {
        x.apply_op2_no_bwd(weight, self)
    }
}

fn rms_norm<T: Number>(
    norm: &RmsNorm,
    x: (&CpuStorage, &Layout),
    weight: (&CpuStorage, &Layout),
) -> Result<(CpuStorage, Shape)> {
    let (rows, weight) = (Rows::<T>::new(x.0, x.1, "x")?, vector::<T>(weight.0, weight.1, "weight")?);
    let mut out = vec![T::default(); rows.tokens * rows.width];
    let output =
        Output::apart(rows.view()?, TensorMut::new(&mut out, &[rows.tokens, rows.width]).map_err(Error::wrap)?);
    let ready = &norm.ready;
    ops::rms_norm(&ready.op, output, Some(weight), norm.epsilon, ready.session.stream()).map_err(Error::wrap)?;
    Ok((T::to_cpu_storage_owned(out), x.1.shape().clone()))
}

impl CustomOp2 for RmsNorm {
    fn name(&self) -> &'static str {
        "opweave_rms_norm"
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout, s2: &CpuStorage, l2: &Layout) -> Result<(CpuStorage, Shape)> {
        by_dtype!(s1, rms_norm(self, (s1, l1), (s2, l2)))
    }
}

/// `sum = residual + x`, rounded, and the RMS norm of the sum, in one pass.
#[derive(Clone, Debug)]
pub struct FusedAddRmsNorm {
    ready: Ready<ops::FusedAddRmsNorm>,
    epsilon: f32,
}

impl FusedAddRmsNorm {
    /// Prepares it for rows of `hidden_size` elements; the weight has the dtype of the rows.
    ///
    /// # Errors
    /// A dtype or a width that the operator does not have.
    pub fn new(session: &Session, hidden_size: usize, dtype_of_rows: DType, epsilon: f32) -> Result<Self> {
        let problem = FusedAddRmsNormProblem::new(hidden_size, dtype(dtype_of_rows)?);
        Ok(FusedAddRmsNorm { ready: Ready::new(session, problem)?, epsilon })
    }

    /// The kernel that was chosen.
    pub fn kernel(&self) -> &str {
        self.ready.kernel()
    }

    /// The sum of `x` and `residual`, `[.., hidden_size]` each, and its norm with `weight`, `[hidden_size]`.
    ///
    /// # Errors
    /// Shapes, dtypes or strides that were not prepared for.
    pub fn forward(&self, x: &Tensor, residual: &Tensor, weight: &Tensor) -> Result<(Tensor, Tensor)> {
        let both = x.apply_op3_no_bwd(residual, weight, self)?;
        Ok((both.get(0)?, both.get(1)?))
    }
}

/// A custom operator has one result, so sum and norm stand one after the other in it.
fn fused_add_rms_norm<T: Number>(
    norm: &FusedAddRmsNorm,
    x: (&CpuStorage, &Layout),
    residual: (&CpuStorage, &Layout),
    weight: (&CpuStorage, &Layout),
) -> Result<(CpuStorage, Shape)> {
    if x.1.shape() != residual.1.shape() {
        candle_core::bail!("x has shape {:?} and residual {:?}: both need the same", x.1.dims(), residual.1.dims());
    }
    let rows = Rows::<T>::new(x.0, x.1, "x")?;
    let weight = vector::<T>(weight.0, weight.1, "weight")?;
    let mut both = Rows::<T>::new(residual.0, residual.1, "residual")?.copy_out();
    let count = both.len();
    both.resize(2 * count, T::default());
    let (sum, out) = both.split_at_mut(count);
    let shape = [rows.tokens, rows.width];
    let output = Output::apart(rows.view()?, TensorMut::new(out, &shape).map_err(Error::wrap)?);
    let sum = TensorMut::new(sum, &shape).map_err(Error::wrap)?;
    let ready = &norm.ready;
    ops::fused_add_rms_norm(&ready.op, output, sum, Some(weight), norm.epsilon, ready.session.stream())
        .map_err(Error::wrap)?;
    let dims: Vec<usize> = std::iter::once(2).chain(x.1.dims().iter().copied()).collect();
    Ok((T::to_cpu_storage_owned(both), dims.into()))
}

impl CustomOp3 for FusedAddRmsNorm {
    fn name(&self) -> &'static str {
        "opweave_fused_add_rms_norm"
    }

    fn cpu_fwd(
        &self,
        s1: &CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
        s3: &CpuStorage,
        l3: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        by_dtype!(s1, fused_add_rms_norm(self, (s1, l1), (s2, l2), (s3, l3)))
    }
}

/// `(x - mean) * rsqrt(variance + epsilon) * weight + bias` over the last dimension, in f32 and rounded once.
#[derive(Clone, Debug)]
pub struct LayerNorm {
    ready: Ready<ops::LayerNorm>,
    epsilon: f32,
    parameters: Parameters,
}

/// Which parameters the norm was prepared for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parameters {
    None,
    Weight,
    WeightAndBias,
}

impl LayerNorm {
    fn prepare(session: &Session, width: usize, of: DType, epsilon: f32, parameters: Parameters) -> Result<Self> {
        let mut problem = LayerNormProblem::new(width, dtype(of)?);
        if parameters == Parameters::None {
            problem.weight_dtype = None;
        }
        if parameters != Parameters::WeightAndBias {
            problem.bias_dtype = None;
        }
        Ok(LayerNorm { ready: Ready::new(session, problem)?, epsilon, parameters })
    }

    /// Prepares it with weight and bias, of the dtype of the rows.
    ///
    /// # Errors
    /// A dtype or a width that the operator does not have.
    pub fn new(session: &Session, hidden_size: usize, dtype_of_rows: DType, epsilon: f32) -> Result<Self> {
        LayerNorm::prepare(session, hidden_size, dtype_of_rows, epsilon, Parameters::WeightAndBias)
    }

    /// Prepares it with a weight and no bias.
    ///
    /// # Errors
    /// As [`LayerNorm::new`].
    pub fn without_bias(session: &Session, hidden_size: usize, dtype_of_rows: DType, epsilon: f32) -> Result<Self> {
        LayerNorm::prepare(session, hidden_size, dtype_of_rows, epsilon, Parameters::Weight)
    }

    /// Prepares it with neither.
    ///
    /// # Errors
    /// As [`LayerNorm::new`].
    pub fn without_parameters(
        session: &Session,
        hidden_size: usize,
        dtype_of_rows: DType,
        epsilon: f32,
    ) -> Result<Self> {
        LayerNorm::prepare(session, hidden_size, dtype_of_rows, epsilon, Parameters::None)
    }

    /// The kernel that was chosen.
    pub fn kernel(&self) -> &str {
        self.ready.kernel()
    }

    /// The norm of `x`, `[.., hidden_size]`, with `weight` and `bias`, `[hidden_size]` each, as it was prepared.
    ///
    /// # Errors
    /// Shapes, dtypes or strides that were not prepared for, a parameter that is missing or not expected.
    pub fn forward(&self, x: &Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>) -> Result<Tensor> {
        match (self.parameters, weight, bias) {
            (Parameters::WeightAndBias, Some(weight), Some(bias)) => x.apply_op3_no_bwd(weight, bias, self),
            (Parameters::Weight, Some(weight), None) => x.apply_op2_no_bwd(weight, self),
            (Parameters::None, None, None) => x.apply_op1_no_bwd(self),
            (prepared, weight, bias) => candle_core::bail!(
                "layer_norm was prepared for {}: it was given {} weight and {} bias",
                match prepared {
                    Parameters::None => "no parameters",
                    Parameters::Weight => "a weight alone",
                    Parameters::WeightAndBias => "weight and bias",
                },
                if weight.is_some() { "a" } else { "no" },
                if bias.is_some() { "a" } else { "no" },
            ),
        }
    }
}

type Given<'a> = Option<(&'a CpuStorage, &'a Layout)>;

fn layer_norm<'a, T: Number>(
    norm: &LayerNorm,
    x: (&CpuStorage, &Layout),
    weight: Given<'a>,
    bias: Given<'a>,
) -> Result<(CpuStorage, Shape)> {
    let rows = Rows::<T>::new(x.0, x.1, "x")?;
    let parameter = |given: Given<'a>, name| given.map(|(s, l)| vector::<T>(s, l, name)).transpose();
    let (weight, bias) = (parameter(weight, "weight")?, parameter(bias, "bias")?);
    let mut out = vec![T::default(); rows.tokens * rows.width];
    let output =
        Output::apart(rows.view()?, TensorMut::new(&mut out, &[rows.tokens, rows.width]).map_err(Error::wrap)?);
    let ready = &norm.ready;
    ops::layer_norm(&ready.op, output, weight, bias, norm.epsilon, ready.session.stream()).map_err(Error::wrap)?;
    Ok((T::to_cpu_storage_owned(out), x.1.shape().clone()))
}

impl CustomOp1 for LayerNorm {
    fn name(&self) -> &'static str {
        "opweave_layer_norm"
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout) -> Result<(CpuStorage, Shape)> {
        by_dtype!(s1, layer_norm(self, (s1, l1), None, None))
    }
}

impl CustomOp2 for LayerNorm {
    fn name(&self) -> &'static str {
        "opweave_layer_norm"
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout, s2: &CpuStorage, l2: &Layout) -> Result<(CpuStorage, Shape)> {
        by_dtype!(s1, layer_norm(self, (s1, l1), Some((s2, l2)), None))
    }
}

impl CustomOp3 for LayerNorm {
    fn name(&self) -> &'static str {
        "opweave_layer_norm"
    }

    fn cpu_fwd(
        &self,
        s1: &CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
        s3: &CpuStorage,
        l3: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        by_dtype!(s1, layer_norm(self, (s1, l1), Some((s2, l2)), Some((s3, l3))))
    }
}
