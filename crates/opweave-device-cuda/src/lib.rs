// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! NVIDIA GPUs.
//!
//! The driver is looked for when it is first needed and never linked: a machine without one gets an answer, not an abort.
//! [`backend`] says what there is without creating a context. Engines lend their own streams ([`BorrowedStream`]); the
//! [`CudaDevice`] with memory and streams of its own is for harnesses. Both live in the device's primary context, as the CUDA
//! runtime, PyTorch and candle do.

mod buffer;
mod context;
mod cupti;
mod device;
mod driver;
mod graph;
mod instance;
mod launch;
mod library;
mod module;
mod stream;

pub use buffer::CudaBuffer;
pub use context::{Context, Current};
pub use cupti::{CudaActivity, Cupti};
pub use device::CudaDevice;
pub use driver::Driver;
pub use graph::{CudaEvent, CudaGraph};
pub use instance::{backend, driver};
pub use launch::{BareLaunch, Grid, Launch};
pub use library::LoadError;
pub use module::{Function, Module};
pub use stream::{BorrowedStream, CudaStream};
