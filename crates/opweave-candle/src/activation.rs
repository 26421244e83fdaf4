// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Gated activations.

use candle_core::{CpuStorage, CustomOp1, CustomOp2, DType, Error, Layout, Result, Shape, Tensor};
use opweave::contract::ops::activation::Halves;
use opweave::ops::{self, GeluAndMulProblem, GeluTanhAndMulProblem, SiluAndMulProblem};
use opweave::{AnyMut, AnyRef, TensorMut};

use crate::rows::{Number, Rows};
use crate::session::{Ready, Session, by_dtype, dtype};

/// What the gate goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `x * sigmoid(x)`.
    Silu,
    /// The exact GELU, with erf.
    Gelu,
    /// GELU by its approximation with tanh.
    GeluTanh,
}

/// The operators behind [`Activation`].
#[derive(Clone, Debug)]
enum Kind {
    Silu(Ready<ops::SiluAndMul>),
    Gelu(Ready<ops::GeluAndMul>),
    GeluTanh(Ready<ops::GeluTanhAndMul>),
}

/// `activation(gate) * up`, in f32 and rounded once.
#[derive(Clone, Debug)]
pub struct GatedActivation {
    kind: Kind,
    halves: Halves,
}

impl GatedActivation {
    fn prepare(session: &Session, activation: Activation, width: usize, of: DType, halves: Halves) -> Result<Self> {
        let of = dtype(of)?;
        // The three problems are types of their own with the same fields.
        macro_rules! ready {
            ($kind:ident, $problem:ident) => {{
                let mut problem = $problem::new(width, of);
                problem.halves = halves;
                Kind::$kind(Ready::new(session, problem)?)
            }};
        }
        let kind = match activation {
            Activation::Silu => ready!(Silu, SiluAndMulProblem),
            Activation::Gelu => ready!(Gelu, GeluAndMulProblem),
            Activation::GeluTanh => ready!(GeluTanh, GeluTanhAndMulProblem),
        };
        Ok(GatedActivation { kind, halves })
    }

    /// Prepares it for gate and up in one row of `2 * intermediate_size` elements, the gate first.
    ///
    /// # Errors
    /// A dtype or a width that the operator does not have.
    pub fn packed(session: &Session, activation: Activation, intermediate_size: usize, of: DType) -> Result<Self> {
        GatedActivation::prepare(session, activation, intermediate_size, of, Halves::Packed)
    }

    /// Prepares it for gate and up in tensors of their own.
    ///
    /// # Errors
    /// As [`GatedActivation::packed`].
    pub fn separate(session: &Session, activation: Activation, intermediate_size: usize, of: DType) -> Result<Self> {
        GatedActivation::prepare(session, activation, intermediate_size, of, Halves::Separate)
    }

    /// The kernel that was chosen.
    pub fn kernel(&self) -> &str {
        match &self.kind {
            Kind::Silu(ready) => ready.kernel(),
            Kind::Gelu(ready) => ready.kernel(),
            Kind::GeluTanh(ready) => ready.kernel(),
        }
    }

    /// The product for a packed row, `[.., 2 * intermediate_size]`.
    ///
    /// # Errors
    /// Shapes, dtypes or strides that were not prepared for.
    pub fn forward(&self, packed: &Tensor) -> Result<Tensor> {
        if self.halves != Halves::Packed {
            candle_core::bail!("the activation was prepared for gate and up apart: call forward_separate");
        }
        packed.apply_op1_no_bwd(self)
    }

    /// The product for gate and up apart, `[.., intermediate_size]` each.
    ///
    /// # Errors
    /// Shapes, dtypes or strides that were not prepared for.
    pub fn forward_separate(&self, gate: &Tensor, up: &Tensor) -> Result<Tensor> {
        if self.halves != Halves::Separate {
            candle_core::bail!("the activation was prepared for gate and up in one row: call forward");
        }
        if gate.shape() != up.shape() {
            candle_core::bail!("gate has shape {:?} and up {:?}: both need the same", gate.dims(), up.dims());
        }
        gate.apply_op2_no_bwd(up, self)
    }

    fn call<'a>(&self, input: AnyRef<'a>, up: Option<AnyRef<'a>>, out: AnyMut<'a>) -> Result<()> {
        match &self.kind {
            Kind::Silu(r) => ops::silu_and_mul(&r.op, input, up, out, r.session.stream()),
            Kind::Gelu(r) => ops::gelu_and_mul(&r.op, input, up, out, r.session.stream()),
            Kind::GeluTanh(r) => ops::gelu_tanh_and_mul(&r.op, input, up, out, r.session.stream()),
        }
        .map_err(Error::wrap)
    }
}

fn packed<T: Number>(op: &GatedActivation, s: &CpuStorage, l: &Layout) -> Result<(CpuStorage, Shape)> {
    let rows = Rows::<T>::new(s, l, "packed")?;
    let width = rows.width / 2;
    let mut out = vec![T::default(); rows.tokens * width];
    let target = TensorMut::new(&mut out, &[rows.tokens, width]).map_err(Error::wrap)?;
    op.call(rows.view()?.into(), None, target.into())?;
    let mut dims = l.dims().to_vec();
    if let Some(last) = dims.last_mut() {
        *last = width;
    }
    Ok((T::to_cpu_storage_owned(out), dims.into()))
}

fn separate<T: Number>(
    op: &GatedActivation,
    gate: (&CpuStorage, &Layout),
    up: (&CpuStorage, &Layout),
) -> Result<(CpuStorage, Shape)> {
    let (rows, factor) = (Rows::<T>::new(gate.0, gate.1, "gate")?, Rows::<T>::new(up.0, up.1, "up")?);
    let mut out = vec![T::default(); rows.tokens * rows.width];
    let target = TensorMut::new(&mut out, &[rows.tokens, rows.width]).map_err(Error::wrap)?;
    op.call(rows.view()?.into(), Some(factor.view()?.into()), target.into())?;
    Ok((T::to_cpu_storage_owned(out), gate.1.shape().clone()))
}

impl CustomOp1 for GatedActivation {
    fn name(&self) -> &'static str {
        "opweave_gated_activation"
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout) -> Result<(CpuStorage, Shape)> {
        by_dtype!(s1, packed(self, s1, l1))
    }
}

impl CustomOp2 for GatedActivation {
    fn name(&self) -> &'static str {
        "opweave_gated_activation"
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout, s2: &CpuStorage, l2: &Layout) -> Result<(CpuStorage, Shape)> {
        by_dtype!(s1, separate(self, (s1, l1), (s2, l2)))
    }
}
