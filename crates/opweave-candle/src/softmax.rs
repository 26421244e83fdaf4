// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Softmax.

use candle_core::{CpuStorage, CustomOp1, DType, Error, Layout, Result, Shape, Tensor};
use opweave::ops::{self, SoftmaxProblem};
use opweave::{Output, TensorMut};

use crate::rows::{Number, Rows};
use crate::session::{Ready, Session, by_dtype, dtype};

/// `e^(x / temperature)` over its sum along the last dimension, in f32 and rounded once.
#[derive(Clone, Debug)]
pub struct Softmax {
    ready: Ready<ops::Softmax>,
    temperature: f32,
}

impl Softmax {
    /// Prepares it for rows of `width` elements.
    ///
    /// # Errors
    /// A dtype or a width that the operator does not have.
    pub fn new(session: &Session, width: usize, dtype_of_rows: DType) -> Result<Self> {
        let problem = SoftmaxProblem::new(width, dtype(dtype_of_rows)?);
        Ok(Softmax { ready: Ready::new(session, problem)?, temperature: 1.0 })
    }

    /// The same with logits divided by `temperature`, above 0.
    #[must_use]
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.temperature = temperature;
        self
    }

    /// The kernel that was chosen.
    pub fn kernel(&self) -> &str {
        self.ready.kernel()
    }

    /// The probabilities of `logits`, `[.., width]`.
    ///
    /// # Errors
    /// Shapes, dtypes or strides that were not prepared for, or a temperature that is not above 0.
    pub fn forward(&self, logits: &Tensor) -> Result<Tensor> {
        logits.apply_op1_no_bwd(self)
    }
}

fn softmax<T: Number>(op: &Softmax, s: &CpuStorage, l: &Layout) -> Result<(CpuStorage, Shape)> {
    let rows = Rows::<T>::new(s, l, "logits")?;
    let mut out = vec![T::default(); rows.tokens * rows.width];
    let output =
        Output::apart(rows.view()?, TensorMut::new(&mut out, &[rows.tokens, rows.width]).map_err(Error::wrap)?);
    ops::softmax(&op.ready.op, output, op.temperature, op.ready.session.stream()).map_err(Error::wrap)?;
    Ok((T::to_cpu_storage_owned(out), l.shape().clone()))
}

impl CustomOp1 for Softmax {
    fn name(&self) -> &'static str {
        "opweave_softmax"
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout) -> Result<(CpuStorage, Shape)> {
        by_dtype!(s1, softmax(self, s1, l1))
    }
}
