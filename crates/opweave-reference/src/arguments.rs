// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The arguments of a call as numbers.

use opweave_contract::{Operator, Signature};
use opweave_tensor::DType;

/// A tensor as numbers, in row-major order.
#[derive(Clone, PartialEq, Debug)]
pub struct Values {
    /// The dtype whose values these are.
    pub dtype: DType,
    /// Sizes, outermost first.
    pub shape: Vec<usize>,
    /// One number for each element.
    pub data: Vec<f64>,
}

impl Values {
    /// Values of a shape.
    pub fn new(dtype: DType, shape: &[usize], data: Vec<f64>) -> Values {
        Values { dtype, shape: shape.to_vec(), data }
    }

    /// A tensor of zeros, such as an output before the call.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Values {
        Values::new(dtype, shape, vec![0.0; shape.iter().product()])
    }
}

/// What a reference cannot compute with.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// An argument that the problem has is not there.
    #[error("compute the reference of `{operation}`: argument `{argument}` is missing")]
    Missing {
        /// The operation.
        operation: &'static str,
        /// The argument.
        argument: &'static str,
    },
    /// A fault that the signature does not list.
    #[error("compute the reference of `{operation}`: its signature lists no fault `{clause}`")]
    Clause {
        /// The operation.
        operation: &'static str,
        /// The clause.
        clause: &'static str,
    },
    /// Another number of values than the shape says.
    #[error(
        "compute the reference of `{operation}`: argument `{argument}` has {actual} values; its shape and the problem \
         say {expected}"
    )]
    Count {
        /// The operation.
        operation: &'static str,
        /// The argument.
        argument: &'static str,
        /// Values expected.
        expected: usize,
        /// Values given.
        actual: usize,
    },
}

/// A value outside its table, as a kernel reports it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FaultAt {
    /// Position of the clause in the signature's list of faults.
    pub clause: u32,
    /// The row of the value.
    pub row: u64,
}

/// The arguments of one call in the order of the signature.
#[derive(Clone, Debug)]
pub struct Arguments {
    signature: &'static Signature,
    tensors: Vec<Option<Values>>,
    scalars: Vec<f64>,
    faults: Vec<FaultAt>,
}

impl Arguments {
    /// Arguments of operator `O`: tensors (`None` for absent ones) and scalars in signature order. Outputs carry their
    /// shape; their values do not matter.
    pub fn new<O: Operator>(tensors: Vec<Option<Values>>, scalars: Vec<f64>) -> Arguments {
        Arguments { signature: O::signature(), tensors, scalars, faults: Vec::new() }
    }

    /// Notes that row `row` has a value outside its table: every such row, in ascending order.
    ///
    /// # Errors
    /// [`ReferenceError::Clause`] for a fault that the signature does not list.
    pub fn fault(&mut self, clause: &'static str, row: usize) -> Result<(), ReferenceError> {
        let index = self.signature.faults.iter().position(|name| *name == clause);
        let index = index.ok_or(ReferenceError::Clause { operation: self.signature.operation, clause })?;
        self.faults.push(FaultAt { clause: index as u32, row: row as u64 });
        Ok(())
    }

    /// The faults of the call.
    pub fn faults(&self) -> &[FaultAt] {
        &self.faults
    }

    /// All tensors in signature order.
    pub fn tensors(&self) -> &[Option<Values>] {
        &self.tensors
    }

    /// The tensor with this name, if it is there.
    pub fn get(&self, name: &str) -> Option<&Values> {
        self.tensors.get(self.signature.tensor(name)?)?.as_ref()
    }

    /// The tensor with this name, taken out to be written.
    ///
    /// # Errors
    /// [`ReferenceError`] when it is missing or malformed.
    pub fn take(&mut self, name: &'static str) -> Result<Values, ReferenceError> {
        let operation = self.signature.operation;
        let slot = self.signature.tensor(name).and_then(|i| self.tensors.get_mut(i));
        let values = slot.and_then(Option::take).ok_or(ReferenceError::Missing { operation, argument: name })?;
        let expected = values.shape.iter().product();
        if values.data.len() != expected {
            return Err(ReferenceError::Count { operation, argument: name, expected, actual: values.data.len() });
        }
        Ok(values)
    }

    /// Puts a tensor back.
    pub fn put(&mut self, name: &str, values: Values) {
        if let Some(slot) = self.signature.tensor(name).and_then(|i| self.tensors.get_mut(i)) {
            *slot = Some(values);
        }
    }

    /// The tensor with this name, which must have `len` values.
    ///
    /// # Errors
    /// [`ReferenceError`] when it is missing or has another number of values.
    pub fn exactly(&self, name: &'static str, len: usize) -> Result<&[f64], ReferenceError> {
        let operation = self.signature.operation;
        let values = self.get(name).ok_or(ReferenceError::Missing { operation, argument: name })?;
        if values.data.len() != len {
            let actual = values.data.len();
            return Err(ReferenceError::Count { operation, argument: name, expected: len, actual });
        }
        Ok(&values.data)
    }

    /// The same for a tensor that the problem may leave out.
    ///
    /// # Errors
    /// [`ReferenceError::Count`].
    pub fn optional(&self, name: &'static str, len: usize) -> Result<Option<&[f64]>, ReferenceError> {
        if self.get(name).is_some() { self.exactly(name, len).map(Some) } else { Ok(None) }
    }

    /// The scalar with this name.
    ///
    /// # Errors
    /// [`ReferenceError::Missing`].
    pub fn scalar(&self, name: &'static str) -> Result<f64, ReferenceError> {
        let index = self.signature.scalars.iter().position(|s| s.name == name);
        index
            .and_then(|i| self.scalars.get(i).copied())
            .ok_or(ReferenceError::Missing { operation: self.signature.operation, argument: name })
    }
}
