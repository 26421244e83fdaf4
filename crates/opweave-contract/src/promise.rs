// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a problem promises about every call: alignment, contiguity, who writes, and upper bounds of dynamic dimensions.

use crate::{FactValue, Facts, MAX_DYNAMIC, ProblemError, Signature};

/// The most tensors that an operator has.
pub const MAX_TENSORS: usize = 16;

/// What is promised of one tensor. The default promises what every view has: the alignment of one element, any stride
/// that the contract allows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Promise {
    /// Bytes to which the pointer and every stride above one element are aligned; 0 means one element.
    pub alignment: usize,
    /// Whether the tensor is contiguous.
    pub contiguous: bool,
    /// Whether all work that writes the tensor has finished before a call that reads it is enqueued or its graph is launched, as
    /// of weights that were loaded before serving. A kernel may then read it while the work before it on the stream still
    /// runs. Only for what no call writes; it cannot be checked.
    pub constant: bool,
}

/// The promises of all tensors, in signature order. Checked at each call, but for what cannot be seen there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Promises([Promise; MAX_TENSORS]);

impl Promises {
    /// The promise of the tensor at `index`.
    pub fn get(&self, index: usize) -> Promise {
        self.0.get(index).copied().unwrap_or_default()
    }

    /// The same promises with those of the tensor at `index` replaced.
    #[must_use]
    pub fn with(mut self, index: usize, promise: Promise) -> Self {
        if let Some(slot) = self.0.get_mut(index) {
            *slot = promise;
        }
        self
    }

    /// The same promise for every tensor.
    pub const fn all(promise: Promise) -> Self {
        Promises([promise; MAX_TENSORS])
    }
}

/// Upper bounds of the dynamic dimensions, in signature order; `None` where there is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Bounds([Option<usize>; MAX_DYNAMIC]);

impl Bounds {
    /// The bound of dimension `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<usize> {
        self.0.get(index).copied().flatten()
    }

    /// The same bounds with that of dimension `index` replaced.
    #[must_use]
    pub fn with(mut self, index: usize, bound: usize) -> Self {
        if let Some(slot) = self.0.get_mut(index) {
            *slot = Some(bound);
        }
        self
    }
}

/// Appends promises and bounds that were made to `facts`, as `input.align=16`, `input.contiguous=true`, `weight.constant=true`,
/// `tokens.max=512`.
pub(crate) fn push_facts(facts: &mut Facts, signature: &Signature, promises: &Promises, bounds: &Bounds) {
    for (index, tensor) in signature.tensors.iter().enumerate() {
        let promise = promises.get(index);
        if promise.alignment != 0 {
            facts.push(format!("{}.align", tensor.name), FactValue::Int(promise.alignment as u64));
        }
        if promise.contiguous {
            facts.push(format!("{}.contiguous", tensor.name), FactValue::Flag(true));
        }
        if promise.constant {
            facts.push(format!("{}.constant", tensor.name), FactValue::Flag(true));
        }
    }
    for (index, dim) in signature.dims.iter().enumerate() {
        if let Some(bound) = bounds.get(index) {
            facts.push(format!("{}.max", dim.name), FactValue::Int(bound as u64));
        }
    }
}

const ALIGNMENTS: &str = "a power of two up to 4096";

fn is_alignment(bytes: usize) -> bool {
    bytes.is_power_of_two() && bytes <= 4096
}

/// Checks that promises can be kept and bounds admit the smallest call.
///
/// # Errors
/// [`ProblemError::Illegal`] naming the promise or bound.
pub(crate) fn validate(signature: &Signature, promises: &Promises, bounds: &Bounds) -> Result<(), ProblemError> {
    let illegal = |name: String, value: String, legal: String| {
        Err(ProblemError::Illegal { operation: signature.operation, name, value, legal })
    };
    for (index, tensor) in signature.tensors.iter().enumerate() {
        let Promise { alignment, constant, .. } = promises.get(index);
        if alignment != 0 && !is_alignment(alignment) {
            return illegal(format!("{}.align", tensor.name), alignment.to_string(), ALIGNMENTS.to_owned());
        }
        if constant && tensor.role.writes() {
            let legal = "false for what a call writes".to_owned();
            return illegal(format!("{}.constant", tensor.name), constant.to_string(), legal);
        }
    }
    for (index, dim) in signature.dims.iter().enumerate() {
        match bounds.get(index) {
            Some(bound) if bound < dim.min => {
                return illegal(format!("{}.max", dim.name), bound.to_string(), format!("at least {}", dim.min));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads one promise or bound in the form that [`push_facts`] writes. `Ok(false)` when `key` is neither.
///
/// # Errors
/// [`ProblemError::Illegal`] for a value outside its legal set.
pub(crate) fn parse_fact(
    signature: &Signature,
    key: &str,
    value: &str,
    promises: &mut Promises,
    bounds: &mut Bounds,
) -> Result<bool, ProblemError> {
    let Some((name, field)) = key.split_once('.') else { return Ok(false) };
    let illegal = |legal: &str| ProblemError::Illegal {
        operation: signature.operation,
        name: key.to_owned(),
        value: value.to_owned(),
        legal: legal.to_owned(),
    };
    match (field, signature.tensor(name), signature.dim(name)) {
        ("align", Some(index), _) => {
            let alignment = value.parse().ok().filter(|&a| is_alignment(a)).ok_or_else(|| illegal(ALIGNMENTS))?;
            *promises = promises.with(index, Promise { alignment, ..promises.get(index) });
        }
        ("contiguous", Some(index), _) => {
            let contiguous = value.parse().map_err(|_| illegal("true or false"))?;
            *promises = promises.with(index, Promise { contiguous, ..promises.get(index) });
        }
        ("constant", Some(index), _) => {
            let constant = value.parse().map_err(|_| illegal("true or false"))?;
            *promises = promises.with(index, Promise { constant, ..promises.get(index) });
        }
        ("max", _, Some(index)) => {
            let bound = value.parse().map_err(|_| illegal("a non-negative integer"))?;
            *bounds = bounds.with(index, bound);
        }
        _ => return Ok(false),
    }
    Ok(true)
}
