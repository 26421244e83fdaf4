// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Memory that a call needs besides its arguments. The caller owns it.

use opweave_contract::{Clause, ContractError};

/// One block of workspace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Region {
    /// Its size; 0 when none is needed.
    pub bytes: usize,
    /// Its alignment, a power of two.
    pub align: usize,
}

impl Region {
    /// `bytes` aligned to `align`.
    pub const fn new(bytes: usize, align: usize) -> Self {
        Region { bytes, align }
    }

    fn max(self, other: Region) -> Region {
        Region { bytes: self.bytes.max(other.bytes), align: self.align.max(other.align) }
    }
}

/// The workspace of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Regions {
    /// Holds nothing between calls: calls that follow each other on one stream may share it.
    pub scratch: Region,
    /// Zeroed by the caller once and left zero by every call: never shared.
    pub zeroed: Region,
}

impl Regions {
    /// Regions that are enough for both.
    #[must_use]
    pub fn max(self, other: Regions) -> Regions {
        Regions { scratch: self.scratch.max(other.scratch), zeroed: self.zeroed.max(other.zeroed) }
    }
}

/// Workspace lent to one call. It must stay alive until the call has run, and as long as a graph that captured it.
#[derive(Clone, Copy, Debug)]
pub struct Workspace {
    /// Address and size of the scratch region.
    pub scratch: (*mut u8, usize),
    /// Address and size of the zeroed region.
    pub zeroed: (*mut u8, usize),
}

// SAFETY: addresses only; whoever launches with them answers for what they point to.
unsafe impl Send for Workspace {}
// SAFETY: as for Send.
unsafe impl Sync for Workspace {}

impl Workspace {
    /// No workspace, for plans that need none.
    pub const NONE: Workspace = Workspace { scratch: (std::ptr::null_mut(), 0), zeroed: (std::ptr::null_mut(), 0) };

    /// Checks that the workspace is enough for `regions`.
    ///
    /// # Errors
    /// [`ContractError`] with [`Clause::Workspace`], naming the region.
    #[inline]
    pub fn check(&self, operation: &'static str, regions: &Regions) -> Result<(), ContractError> {
        check_region(operation, "workspace.scratch", self.scratch, regions.scratch)?;
        check_region(operation, "workspace.zeroed", self.zeroed, regions.zeroed)
    }
}

#[inline]
fn check_region(
    operation: &'static str,
    argument: &'static str,
    (data, bytes): (*mut u8, usize),
    region: Region,
) -> Result<(), ContractError> {
    if region.bytes == 0 || (bytes >= region.bytes && !data.is_null() && data as usize & (region.align.max(1) - 1) == 0)
    {
        return Ok(());
    }
    Err(refusal(operation, argument, data, bytes, region))
}

#[cold]
fn refusal(
    operation: &'static str,
    argument: &'static str,
    data: *mut u8,
    bytes: usize,
    region: Region,
) -> ContractError {
    ContractError {
        operation,
        argument,
        clause: Clause::Workspace,
        expected: format!("{} bytes aligned to {}", region.bytes, region.align.max(1)),
        actual: format!("{bytes} bytes at {data:p}"),
    }
}
