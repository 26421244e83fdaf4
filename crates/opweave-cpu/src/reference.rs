// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The floor: every operator's f64 reference as a row of the lowest rank.
//!
//! It is there so that every operator runs on every CPU, and so that a kernel has something right to be compared with.
//! It is not made for serving: unlike every other row it allocates, the numbers of a call as f64.

use std::marker::PhantomData;
use std::sync::Arc;

use half::{bf16, f16};
use opweave_contract::{ArgVisitor, Operator};
use opweave_device::{DeviceKind, LaunchError, StreamRef};
use opweave_reference::{Arguments, Reference, Values};
use opweave_registry::{Kernel, KernelSpec, Plan, PrepareContext, PrepareError, Registry, RegistryError, Workspace};
use opweave_tensor::{DType, F8E4M3, RawTensor};

use crate::faults;

/// Below every kernel.
const PRIORITY: i32 = -1000;

struct ReferenceKernel<O> {
    spec: KernelSpec,
    operator: PhantomData<fn() -> O>,
}

struct ReferencePlan<O: Operator> {
    problem: O::Problem,
}

impl<O: Reference> Kernel<O> for ReferenceKernel<O> {
    fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    fn prepare(&self, problem: &O::Problem, _: &PrepareContext<'_>) -> Result<Arc<dyn Plan<O>>, PrepareError> {
        Ok(Arc::new(ReferencePlan::<O> { problem: *problem }))
    }
}

impl<O: Reference> Plan<O> for ReferencePlan<O> {
    unsafe fn enqueue(&self, args: &O::Args, _: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        let mut call = Collected::default();
        O::visit(args, &mut call);
        // SAFETY: the clauses of `Plan::enqueue` say that every view is valid to read.
        let values = call.tensors.iter().map(|t| t.map(|t| unsafe { read(&t) })).collect();
        let mut arguments = Arguments::new::<O>(values, call.scalars);
        O::reference(&self.problem, &mut arguments).map_err(|e| LaunchError::Refused(e.to_string()))?;
        faults::report::<O>(arguments.faults().first().copied(), stream)?;
        let written = O::signature().tensors.iter().map(|t| t.role.writes());
        for ((tensor, values), writes) in call.tensors.iter().zip(arguments.tensors()).zip(written) {
            if let (true, Some(tensor), Some(values)) = (writes, tensor, values) {
                // SAFETY: as above, and a role that writes says that the view is valid to write.
                unsafe { write(tensor, &values.data) };
            }
        }
        Ok(())
    }
}

/// Registers `cpu.reference.<op>`.
pub(crate) fn register<O: Reference>(registry: &mut Registry) -> Result<(), RegistryError> {
    let name = format!("cpu.reference.{}", O::NAME);
    let spec = KernelSpec { priority: PRIORITY, ..KernelSpec::new(name, "reference", DeviceKind::Cpu, O::CONTRACTS) };
    registry.register::<O, _>(Arc::new(ReferenceKernel::<O> { spec, operator: PhantomData })).map(drop)
}

#[derive(Default)]
struct Collected {
    tensors: Vec<Option<RawTensor>>,
    scalars: Vec<f64>,
}

impl ArgVisitor for Collected {
    fn tensor(&mut self, _: usize, tensor: Option<&RawTensor>) {
        self.tensors.push(tensor.copied());
    }
    fn scalar(&mut self, _: usize, value: f64) {
        self.scalars.push(value);
    }
}

/// Calls `each` with the position in row-major order and the offset in elements of every element.
fn for_each_element(tensor: &RawTensor, mut each: impl FnMut(usize, isize)) {
    let shape = tensor.shape();
    for position in 0..tensor.elements() {
        let (mut rest, mut offset) = (position, 0_isize);
        for (axis, &size) in shape.iter().enumerate().rev() {
            offset += (rest % size) as isize * tensor.stride(axis);
            rest /= size;
        }
        each(position, offset);
    }
}

/// # Safety
/// - Every element of the view is valid to read.
unsafe fn read(tensor: &RawTensor) -> Values {
    let mut data = vec![0.0; tensor.elements()];
    for_each_element(tensor, |position, offset| {
        // SAFETY: the caller's clause; the offset is that of an element.
        data[position] = unsafe {
            match tensor.dtype() {
                DType::F64 => *tensor.data().cast::<f64>().offset(offset),
                DType::F32 => f64::from(*tensor.data().cast::<f32>().offset(offset)),
                DType::F16 => (*tensor.data().cast::<f16>().offset(offset)).to_f64(),
                DType::BF16 => (*tensor.data().cast::<bf16>().offset(offset)).to_f64(),
                DType::F8E4M3 => f64::from((*tensor.data().cast::<F8E4M3>().offset(offset)).to_f32()),
                DType::I64 => *tensor.data().cast::<i64>().offset(offset) as f64,
                DType::I32 => f64::from(*tensor.data().cast::<i32>().offset(offset)),
                DType::U32 => f64::from(*tensor.data().cast::<u32>().offset(offset)),
                DType::I8 => f64::from(*tensor.data().cast::<i8>().offset(offset)),
                DType::U8 => f64::from(*tensor.data().offset(offset)),
                other => unreachable!("no reference of this crate reads {other}"),
            }
        };
    });
    Values::new(tensor.dtype(), tensor.shape(), data)
}

/// # Safety
/// - Every element of the view is valid to write.
unsafe fn write(tensor: &RawTensor, data: &[f64]) {
    for_each_element(tensor, |position, offset| {
        let value = data[position];
        // SAFETY: the caller's clause; the offset is that of an element.
        unsafe {
            match tensor.dtype() {
                DType::F64 => *tensor.data().cast::<f64>().offset(offset) = value,
                DType::F32 => *tensor.data().cast::<f32>().offset(offset) = value as f32,
                DType::F16 => *tensor.data().cast::<f16>().offset(offset) = f16::from_f64(value),
                DType::BF16 => *tensor.data().cast::<bf16>().offset(offset) = bf16::from_f64(value),
                DType::F8E4M3 => *tensor.data().cast::<F8E4M3>().offset(offset) = exact_code(value),
                DType::I64 => *tensor.data().cast::<i64>().offset(offset) = value as i64,
                DType::I32 => *tensor.data().cast::<i32>().offset(offset) = value as i32,
                DType::U32 => *tensor.data().cast::<u32>().offset(offset) = value as u32,
                DType::I8 => *tensor.data().cast::<i8>().offset(offset) = value as i8,
                other => unreachable!("no reference of this crate writes {other}"),
            }
        }
    });
}

/// The code of a number that has one: what a reference gives is rounded already.
fn exact_code(value: f64) -> F8E4M3 {
    if value.is_nan() {
        return F8E4M3::NAN;
    }
    // Patterns below the sign ascend as their values do.
    let (mut low, mut high) = (0_u8, 0x7e);
    while low < high {
        let middle = low + (high - low) / 2;
        if f64::from(F8E4M3::from_bits(middle).to_f32()) < value.abs() {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    F8E4M3::from_bits(low | if value.is_sign_negative() { 0x80 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_again() {
        for bits in 0..=u8::MAX {
            let code = F8E4M3::from_bits(bits);
            let found = exact_code(f64::from(code.to_f32()));
            assert!(found == code || code.to_f32().is_nan() && found == F8E4M3::NAN, "{bits:x}");
        }
    }
}
