// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rotary position embedding.

use candle_core::{CpuStorage, CustomOp3, DType, Error, Layout, Result, Shape, Tensor, bail};
use opweave::ops::{self, RotaryEmbeddingProblem};
use opweave::{TensorMut, TensorRef};

pub use opweave::contract::ops::rotary::RotaryStyle;

use crate::rows::{Number, Rows};
use crate::session::{Ready, Session, by_dtype, dtype};

/// Each head's features turned by the angles of its token's position, in f32 and rounded once.
#[derive(Clone, Debug)]
pub struct Rotary {
    ready: Ready<ops::RotaryEmbedding>,
    heads: usize,
    head_dim: usize,
}

impl Rotary {
    /// Prepares it for `heads` heads of `head_dim` features, all of them turned, paired as `style` says.
    ///
    /// # Errors
    /// A dtype or a size that the operator does not have.
    pub fn new(session: &Session, heads: usize, head_dim: usize, of: DType, style: RotaryStyle) -> Result<Self> {
        let of = dtype(of)?;
        let mut problem = RotaryEmbeddingProblem::new(heads, heads, head_dim, head_dim, of);
        problem.key_dtype = None;
        problem.cache_dtype = of;
        problem.style = style;
        Ok(Rotary { ready: Ready::new(session, problem)?, heads, head_dim })
    }

    /// The kernel that was chosen.
    pub fn kernel(&self) -> &str {
        self.ready.kernel()
    }

    /// The turned heads of `x`, `[.., heads, head_dim]`, whose leading dimensions are tokens.
    ///
    /// - `cos_sin`: `[positions, head_dim]` of the dtype of `x`: of each position `head_dim / 2` cosines, then as many sines.
    /// - `positions`: i64, one for each token.
    ///
    /// # Errors
    /// Shapes, dtypes or strides that were not prepared for, or a position outside `cos_sin`.
    pub fn forward(&self, x: &Tensor, cos_sin: &Tensor, positions: &Tensor) -> Result<Tensor> {
        match x.dims() {
            [.., heads, dim] if (*heads, *dim) == (self.heads, self.head_dim) => {}
            dims => {
                bail!("x of shape {dims:?} does not end in the {} heads of {} prepared for", self.heads, self.head_dim)
            }
        }
        x.contiguous()?.apply_op3_no_bwd(cos_sin, positions, self)
    }
}

fn rotary<T: Number>(
    op: &Rotary,
    x: (&CpuStorage, &Layout),
    cos_sin: (&CpuStorage, &Layout),
    positions: (&CpuStorage, &Layout),
) -> Result<(CpuStorage, Shape)> {
    let mut turned = Rows::<T>::new(x.0, x.1, "x")?.copy_out();
    let cache = Rows::<T>::new(cos_sin.0, cos_sin.1, "cos_sin")?;
    let CpuStorage::I64(ids) = positions.0 else { bail!("positions are not of dtype i64") };
    let Some((start, end)) = positions.1.contiguous_offsets() else { bail!("positions are not contiguous") };
    let ids = &ids[start..end];
    let tokens = turned.len() / (op.heads * op.head_dim);
    let shape = [tokens, op.heads, op.head_dim];
    let (stream, ids) = (op.ready.session.stream(), TensorRef::new(ids, &[ids.len()]).map_err(Error::wrap)?);
    let heads = TensorMut::new(&mut turned, &shape).map_err(Error::wrap)?;
    ops::rotary_embedding(&op.ready.op, ids, heads, None, cache.view()?, stream).map_err(Error::wrap)?;
    Ok((T::to_cpu_storage_owned(turned), x.1.shape().clone()))
}

impl CustomOp3 for Rotary {
    fn name(&self) -> &'static str {
        "opweave_rotary_embedding"
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
        by_dtype!(s1, rotary(self, (s1, l1), (s2, l2), (s3, l3)))
    }
}
