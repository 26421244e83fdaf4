// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Ascend NPUs.
//!
//! CANN's libraries are looked for when they are first needed and never linked: a machine without them gets an answer, not an
//! abort. [`backend`] says what there is without creating a context. Engines lend their own streams ([`BorrowedStream`]); the
//! [`NpuDevice`] with memory and streams of its own is for harnesses. Both live in the device's default context, as torch_npu
//! does. Kernels of one's own are binaries ([`Binary`]); operators of the vendor's are looked up by [`Cann::operator`].
//!
//! Not run on hardware: `docs/npu.md` says what has been verified, and how.

mod acl;
mod binary;
mod buffer;
mod context;
mod device;
mod graph;
mod instance;
mod library;
mod meta;
mod status;
mod stream;
mod version;

pub use acl::Acl;
pub use binary::{Binary, Function, Placeholder};
pub use buffer::NpuBuffer;
pub use context::{Context, Current};
pub use device::NpuDevice;
pub use graph::{NpuEvent, NpuGraph};
pub use instance::{Cann, backend, cann, chip_of, installed};
pub use library::{LoadError, Missing, Places};
pub use meta::{Executor, Meta, Opaque};
pub use status::{ErrorClass, Status};
pub use stream::{BorrowedStream, NpuStream};
pub use version::{Version, VersionError};
