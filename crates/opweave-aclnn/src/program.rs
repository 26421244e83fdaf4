// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a call comes to: operators of the vendor's, one after the other, without any address that only the call knows.

use opweave_tensor::{DType, RawTensor};

use crate::descriptor::{Form, code_of};
use crate::operation::{Attributes, CAST, COPY, Operation};

/// Tensors of one operator at most.
pub(crate) const MAX_TENSORS: usize = 8;
/// Operators of one call at most.
const MAX_STEPS: usize = 40;
/// What the vendor aligns memory to, and what pieces of the workspace are aligned to here.
pub(crate) const ALIGN: usize = 512;

/// Where a tensor lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Where the caller's view says.
    Argument,
    /// In the workspace, so many bytes from its start.
    Scratch(usize),
}

/// A tensor of an operator's call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) view: RawTensor,
    pub(crate) origin: Origin,
    pub(crate) form: Form,
}

/// One operator with its tensors.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) operation: &'static Operation,
    pub(crate) attributes: Attributes,
    operands: [Option<Operand>; MAX_TENSORS],
    count: usize,
}

impl Step {
    /// Tensors in the order of the operator's parameters; `None` for one that is absent.
    pub(crate) fn operands(&self) -> &[Option<Operand>] {
        &self.operands[..self.count]
    }

    /// Whether an executor for one is good for the other: equal but for addresses.
    pub(crate) fn same(&self, other: &Step) -> bool {
        let alike = |pair: (&Option<Operand>, &Option<Operand>)| match pair {
            (None, None) => true,
            (Some(a), Some(b)) => {
                a.view.dtype() == b.view.dtype()
                    && a.form == b.form
                    && a.view.shape() == b.view.shape()
                    && a.view.strides() == b.view.strides()
            }
            _ => false,
        };
        std::ptr::eq(self.operation, other.operation)
            && self.attributes.same(&other.attributes)
            && self.count == other.count
            && self.operands().iter().zip(other.operands()).all(alike)
    }
}

/// The operators of one call.
pub(crate) struct Program {
    steps: [Option<Step>; MAX_STEPS],
    count: usize,
    /// Where the next tensor of the workspace goes, and behind the last of all that there were.
    next: usize,
    scratch: usize,
    /// Where faults are written; none where the caller gave no buffer.
    faults: Option<*mut u8>,
    /// Why the call cannot be expressed, for a plan's own defect.
    fault: Option<&'static str>,
}

impl Program {
    /// No operators yet; `faults` is the fault buffer of the call.
    pub(crate) fn new(faults: Option<*mut u8>) -> Self {
        Program { steps: [None; MAX_STEPS], count: 0, next: 0, scratch: 0, faults, fault: None }
    }

    /// The fault buffer of the call.
    pub(crate) fn faults(&self) -> Option<*mut u8> {
        self.faults
    }

    /// The operators in their order.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.steps[..self.count].iter().flatten()
    }

    /// Bytes of workspace in front of what the operators themselves want.
    pub(crate) fn scratch(&self) -> usize {
        self.scratch
    }

    pub(crate) fn fault(&self) -> Option<&'static str> {
        self.fault
    }

    /// A contiguous tensor in the workspace.
    pub(crate) fn scratch_tensor(&mut self, like: &RawTensor, dtype: DType, shape: &[usize]) -> Option<Operand> {
        let Ok(view) = RawTensor::contiguous(std::ptr::null_mut(), dtype, like.device(), shape) else {
            self.fault = Some("a tensor of the workspace overflows");
            return None;
        };
        let at = self.next;
        let bytes = view.elements().saturating_mul(dtype.bits()).div_ceil(8);
        self.next = at.saturating_add(bytes).checked_next_multiple_of(ALIGN).unwrap_or(usize::MAX);
        self.scratch = self.scratch.max(self.next);
        Some(Operand { view, origin: Origin::Scratch(at), form: Form::Plain })
    }

    /// Where the workspace has got to: what is made from here on can be given up together.
    pub(crate) fn mark(&self) -> usize {
        self.next
    }

    /// Gives up the tensors of the workspace since a mark: operators that are added later run after all that use them.
    pub(crate) fn release(&mut self, mark: usize) {
        self.next = mark;
    }

    /// The caller's tensor as it is.
    pub(crate) fn argument(&self, view: &RawTensor) -> Option<Operand> {
        Some(Operand { view: *view, origin: Origin::Argument, form: Form::Plain })
    }

    /// A tensor without gaps as one of another shape and of a dtype as wide, with as many elements.
    pub(crate) fn reshaped(&mut self, operand: Option<Operand>, dtype: DType, shape: &[usize]) -> Option<Operand> {
        let Operand { view, origin, form } = operand?;
        match RawTensor::contiguous(view.data(), dtype, view.device(), shape) {
            Ok(view) => Some(Operand { view, origin, form }),
            Err(_) => {
                self.fault = Some("a tensor has no such shape");
                None
            }
        }
    }

    /// A part of a tensor in the workspace, which begins at this element.
    fn within(
        &mut self,
        operand: Option<Operand>,
        from: usize,
        shape: &[usize],
        strides: Option<&[isize]>,
    ) -> Option<Operand> {
        let Operand { view, origin, form } = operand?;
        let Origin::Scratch(at) = origin else {
            self.fault = Some("parts are taken of the workspace alone");
            return None;
        };
        let part = match strides {
            Some(strides) => RawTensor::strided(view.data(), view.dtype(), view.device(), shape, strides),
            None => RawTensor::contiguous(view.data(), view.dtype(), view.device(), shape),
        };
        match part {
            Ok(view) => Some(Operand { view, origin: Origin::Scratch(at + from * view.dtype().bits() / 8), form }),
            Err(_) => {
                self.fault = Some("a part of a tensor is no view");
                None
            }
        }
    }

    /// Some columns of a matrix without gaps in the workspace.
    pub(crate) fn columns(&mut self, operand: Option<Operand>, from: usize, count: usize) -> Option<Operand> {
        let view = operand?.view;
        self.within(operand, from, &[view.dim(0), count], Some(view.strides()))
    }

    /// Elements of a tensor without gaps in the workspace, from this one on.
    pub(crate) fn part(&mut self, operand: Option<Operand>, from: usize, shape: &[usize]) -> Option<Operand> {
        self.within(operand, from, shape, None)
    }

    /// The tensor in another dtype; itself, if it has that.
    pub(crate) fn cast(&mut self, operand: Option<Operand>, dtype: DType) -> Option<Operand> {
        let view = operand?.view;
        if view.dtype() == dtype {
            return operand;
        }
        let other = self.scratch_tensor(&view, dtype, view.shape());
        let int = code_of(dtype).unwrap_or(-1).into();
        self.push(&CAST, Attributes { int, ..Attributes::default() }, &[operand, other]);
        other
    }

    /// A view of memory of the caller's, other than its own.
    pub(crate) fn view(&mut self, at: &RawTensor, shape: &[usize], strides: &[isize]) -> Option<Operand> {
        match RawTensor::strided(at.data(), at.dtype(), at.device(), shape, strides) {
            Ok(view) => self.argument(&view),
            Err(_) => {
                self.fault = Some("a tensor has no such view");
                None
            }
        }
    }

    /// A matrix of these rows and columns at an address of the caller's, each row so many elements behind the one before; in
    /// `form` columns of blocks instead.
    pub(crate) fn matrix(
        &mut self,
        at: &RawTensor,
        dtype: DType,
        (rows, columns): (usize, usize),
        (down, right): (isize, isize),
        form: Form,
    ) -> Option<Operand> {
        match RawTensor::strided(at.data(), dtype, at.device(), &[rows, columns], &[down, right]) {
            Ok(view) => Some(Operand { view, origin: Origin::Argument, form }),
            Err(_) => {
                self.fault = Some("a matrix is no view");
                None
            }
        }
    }

    /// The caller's tensor, copied where the operator takes none with gaps.
    pub(crate) fn contiguous(&mut self, view: &RawTensor) -> Option<Operand> {
        if view.is_contiguous() {
            return self.argument(view);
        }
        let copy = self.scratch_tensor(view, view.dtype(), view.shape());
        self.push(&COPY, Attributes::default(), &[copy, self.argument(view)]);
        copy
    }

    /// Where an operator may write what belongs into `view`: there, or in the workspace where that is also read by the call (no
    /// operator of the vendor's promises that its output may be its input) or, if `packed`, has gaps. [`Program::deliver`] after
    /// the operator.
    pub(crate) fn output(&mut self, view: &RawTensor, reads: &[&RawTensor], packed: bool) -> Option<Operand> {
        let shares = |read: &&RawTensor| match (view.extent(), read.extent()) {
            (Some(out), Some(read)) => out.overlaps(read),
            _ => false,
        };
        if reads.iter().any(shares) || (packed && !view.is_contiguous()) {
            self.scratch_tensor(view, view.dtype(), view.shape())
        } else {
            self.argument(view)
        }
    }

    /// Copies what an operator wrote into the workspace to where it belongs.
    pub(crate) fn deliver(&mut self, written: Option<Operand>, view: &RawTensor) {
        if matches!(written, Some(Operand { origin: Origin::Scratch(_), .. })) {
            self.push(&COPY, Attributes::default(), &[self.argument(view), written]);
        }
    }

    /// Adds an operator.
    pub(crate) fn push(&mut self, operation: &'static Operation, attributes: Attributes, operands: &[Option<Operand>]) {
        if self.count == MAX_STEPS || operands.len() > MAX_TENSORS {
            self.fault = Some("the call takes more operators or tensors than a program holds");
            return;
        }
        let mut step = Step { operation, attributes, operands: [None; MAX_TENSORS], count: operands.len() };
        step.operands[..operands.len()].copy_from_slice(operands);
        self.steps[self.count] = Some(step);
        self.count += 1;
    }
}
