// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Plans: a kernel made ready for one problem on one device.

use opweave_contract::Operator;
use opweave_device::{LaunchError, StreamRef};
use opweave_tensor::{LayoutId, RawTensor};

use crate::{Regions, Workspace};

/// The layout in which a plan reads its packed weight. The caller owns the buffer and packs it once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackedLayout {
    /// Its identity, which the packed view carries and every call checks.
    pub id: LayoutId,
    /// Its description, from which the id is formed.
    pub description: String,
    /// Size of the packed buffer.
    pub bytes: usize,
    /// Alignment of the packed buffer.
    pub align: usize,
}

impl PackedLayout {
    /// The layout with this description.
    pub fn new(description: impl Into<String>, bytes: usize, align: usize) -> Self {
        let description = description.into();
        PackedLayout { id: LayoutId::of(&description), description, bytes, align }
    }
}

/// What a report says of a plan beyond what its row says. Nothing is decided by it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PlanMetadata {
    /// The image that the kernel was loaded from: its name and the digest of its bytes.
    pub image: Option<String>,
    /// Libraries that it calls, by name, each with the version found.
    pub libraries: Vec<(String, String)>,
    /// How it launches, as far as the problem decides it: by name, such as a block or a tile.
    pub launch: Vec<(String, String)>,
}

/// A kernel made ready: immutable, shareable between threads, holding everything that it launches.
pub trait Plan<O: Operator>: Send + Sync {
    /// The workspace that each call needs, sized from the bounds of the problem.
    fn workspace(&self) -> Regions {
        Regions::default()
    }

    /// The layout in which the plan wants the packed weight; `None` for a plain tensor.
    fn packed(&self) -> Option<&PackedLayout> {
        None
    }

    /// What a report says of the plan: asked for outside calls, so it may allocate.
    fn metadata(&self) -> PlanMetadata {
        PlanMetadata::default()
    }

    /// Packs a plain weight into the layout of [`Plan::packed`].
    ///
    /// # Errors
    /// [`LaunchError`]; a plan without a layout refuses.
    ///
    /// # Safety
    /// - `source` is a weight as the problem describes it, readable; `target` is writable for the layout's bytes and
    ///   aligned as the layout says; both stay so until the stream is synchronised.
    unsafe fn pack(&self, source: &RawTensor, target: *mut u8, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        let _ = (source, target, stream);
        Err(LaunchError::Refused("this plan reads its weight as a plain tensor and packs nothing".to_owned()))
    }

    /// Enqueues one call. Never allocates, synchronises, compiles, searches, or reads the environment.
    ///
    /// # Errors
    /// [`LaunchError`] of the launch, or a fault found on the host.
    ///
    /// # Safety
    /// - `args` passed [`Operator::check`] for the plan's problem, and `workspace` the check for [`Plan::workspace`].
    /// - Every view is readable, and writable where its role says so, until the work has finished.
    /// - Nobody else writes the inputs or touches the outputs meanwhile.
    unsafe fn enqueue(&self, args: &O::Args, workspace: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError>;
}
