// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Functions that the declaration macro calls: one copy for all operators.

use opweave_tensor::RawTensor;

use crate::{ArgSource, ArgSpecs, MAX_DYNAMIC};

/// Reads the dynamic dimensions that the tensor at `index` shows, for a call that is known to be valid.
#[inline]
pub fn read_dims(specs: &ArgSpecs, index: usize, tensor: Option<&RawTensor>, dims: &mut [usize; MAX_DYNAMIC]) {
    let (Some(spec), Some(view)) = (specs.tensor(index), tensor) else { return };
    for (dim, &size) in spec.dims.iter().zip(view.shape()).filter(|(dim, _)| dim.binds) {
        dims[dim.index as usize & (MAX_DYNAMIC - 1)] = size.wrapping_sub(dim.size.add) / dim.size.multiply.max(1);
    }
}

/// The tensor at `index` from `source`, or `None` when the problem leaves it out.
///
/// # Errors
/// The error of `source`.
pub fn fetch<S: ArgSource>(specs: &ArgSpecs, index: usize, source: &mut S) -> Result<Option<RawTensor>, S::Error> {
    match specs.tensor(index) {
        Some(spec) if spec.present => source.tensor(index, spec).map(Some),
        _ => Ok(None),
    }
}

/// Numbers the parameters of a declaration in the order in which the macro repeats over them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter(usize);

impl Counter {
    /// The next number, from 0.
    #[inline(always)]
    #[expect(clippy::should_implement_trait, reason = "it never ends, so it is no iterator")]
    pub fn next(&mut self) -> usize {
        self.0 += 1;
        self.0 - 1
    }

    /// Starts again from 0.
    #[inline(always)]
    pub fn reset(&mut self) {
        self.0 = 0;
    }
}
