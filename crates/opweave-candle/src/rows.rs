// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! candle's storages and layouts as opweave's views.

use candle_core::{CpuStorage, Layout, Result, WithDType, bail};
use opweave::opweave_tensor::Element;
use opweave::{AnyRef, TensorRef};

/// What both libraries compute in.
pub(crate) trait Number: WithDType + Element + Default {}
impl<T: WithDType + Element + Default> Number for T {}

/// A tensor's leading dimensions as rows of `width` elements, `stride` apart.
pub(crate) struct Rows<'a, T> {
    values: &'a [T],
    pub(crate) tokens: usize,
    pub(crate) width: usize,
    stride: usize,
}

impl<'a, T: Number> Rows<'a, T> {
    /// The rows of the argument `name`.
    pub(crate) fn new(storage: &'a CpuStorage, layout: &Layout, name: &str) -> Result<Self> {
        let values = T::cpu_storage_as_slice(storage)?;
        let (dims, strides) = (layout.dims(), layout.stride());
        let Some((&width, leading)) = dims.split_last() else { bail!("{name} is a scalar, rows were wanted") };
        let tokens: usize = leading.iter().product();
        if tokens == 0 || width == 0 {
            return Ok(Rows { values: &[], tokens, width, stride: width });
        }
        let refuse = || {
            candle_core::Error::msg(format!(
                "{name} of shape {dims:?} with strides {strides:?} is not rows of one stride: call contiguous() on it first"
            ))
        };
        if width > 1 && strides[strides.len() - 1] != 1 {
            return Err(refuse());
        }
        // Dimensions of one element have whatever stride; each other one must continue the one inside it.
        let (mut stride, mut rows) = (None, 1);
        for (&dim, &step) in leading.iter().zip(strides).rev().filter(|(dim, _)| **dim > 1) {
            match stride {
                None => stride = Some(step),
                Some(inner) if step == inner * rows => {}
                Some(_) => return Err(refuse()),
            }
            rows *= dim;
        }
        let stride = stride.unwrap_or(width);
        // A broadcast row, or rows inside each other, are legal to read and not what an operator's contract takes.
        if stride < width && tokens > 1 {
            return Err(refuse());
        }
        let start = layout.start_offset();
        let end = start + (tokens - 1) * stride + width;
        match values.get(start..end) {
            Some(values) => Ok(Rows { values, tokens, width, stride }),
            None => bail!("{name} of shape {dims:?} reaches past its storage of {} elements", values.len()),
        }
    }

    /// The view, `[tokens, width]`.
    pub(crate) fn view(&self) -> Result<TensorRef<'a, T>> {
        let stride = self.stride as isize;
        TensorRef::strided(self.values, &[self.tokens, self.width], &[stride, 1]).map_err(candle_core::Error::wrap)
    }

    /// The elements, without what lies between rows.
    pub(crate) fn copy_out(&self) -> Vec<T> {
        let mut out = Vec::with_capacity(self.tokens * self.width);
        (0..self.tokens).for_each(|row| out.extend_from_slice(&self.values[row * self.stride..][..self.width]));
        out
    }
}

/// A parameter: one dimension, contiguous.
pub(crate) fn vector<'a, T: Number>(storage: &'a CpuStorage, layout: &Layout, name: &str) -> Result<AnyRef<'a>> {
    let values = T::cpu_storage_as_slice(storage)?;
    match (layout.dims(), layout.contiguous_offsets()) {
        (&[width], Some((start, end))) => {
            TensorRef::new(&values[start..end], &[width]).map(AnyRef::from).map_err(candle_core::Error::wrap)
        }
        (dims, _) => bail!("{name} of shape {dims:?} is not one contiguous dimension"),
    }
}
