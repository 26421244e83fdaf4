// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Kernels as rows.
//!
//! A solution registers each of its kernels once, in a [`Registry`] that is then frozen. A row says what it can do in a
//! [`KernelSpec`] whose [`Needs`] are data; whatever it cannot do is a [`Reject`] with numbers in it. A chosen row gives a
//! [`Plan`], and plans for all buckets of a request make a [`Prepared`] operator, which is immutable and holds everything
//! that it launches.

mod bucket;
mod catalog;
mod checked;
mod frozen;
mod kernel;
mod needs;
mod plan;
mod prepared;
mod registry;
mod reject;
mod spec;
mod workspace;

pub use bucket::{Bucket, BucketError, Buckets, MAX_BUCKETS};
pub use catalog::{Availability, CatalogError, CatalogRow, collect_catalog};
pub use checked::CheckedCall;
pub use frozen::{ErasedKernel, FrozenRegistry, Row};
pub use kernel::{Kernel, PrepareContext, PrepareError};
pub use needs::{Domain, Library, Linear, Needs};
pub use plan::{PackedLayout, Plan, PlanMetadata};
pub use prepared::{Considered, EnqueueError, Prepared, PreparedError, Record, Verdict};
pub use registry::{Registry, RegistryError, override_variable};
pub use reject::Reject;
pub use spec::{ExecutionMode, KernelSpec, ParseModeError, SpecError};
pub use workspace::{Region, Regions, Workspace};

/// The contract crate, whose types stand in this crate's signatures.
pub use opweave_contract as contract;
/// The device crate, whose types stand in this crate's signatures.
pub use opweave_device as device;
/// The tensor crate, whose types stand in this crate's signatures.
pub use opweave_tensor as tensor;
