// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The host processor as a device.

mod buffer;
mod device;
mod event;
mod fetch;
mod keep;
mod parallel;
mod pool;
mod probe;
#[cfg(feature = "rayon")]
mod rayon;

pub use buffer::HostBuffer;
pub use device::CpuDevice;
pub use event::HostEvent;
pub use fetch::fetch;
pub use keep::keep_freed_memory;
pub use parallel::{Parallel, Serial};
pub use pool::{MAX_THREADS, Pool, PoolError};
pub use probe::{backend, host_info, host_key};
