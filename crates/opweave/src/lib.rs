// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Operators for LLM inference, chosen once and explained.
//!
//! Prepare an operator at start-up, call it with your own memory:
//!
//! ```
//! # #[cfg(feature = "cpu")] {
//! use opweave::ops::{FusedAddRmsNorm, FusedAddRmsNormProblem, fused_add_rms_norm};
//! use opweave::{Config, DType, DeviceId, Output, Request, TensorMut, TensorRef, host_stream, runtime};
//!
//! let problem = FusedAddRmsNormProblem::new(4, DType::F32); // hidden_size, dtype
//! let runtime = runtime();
//! let bindings = runtime.initialize(&Config::new().request(Request::<FusedAddRmsNorm>::new(problem)))?;
//! let norm = bindings.prepared::<FusedAddRmsNorm>(DeviceId::CPU, &problem)?;
//! println!("{}", norm.records()[0].spec.name); // the kernel that was chosen for this machine
//!
//! let stream = host_stream(1)?; // one thread; yours to share between calls
//! let (input, weight) = ([1.0_f32, 2.0, 3.0, 4.0], [1.0_f32; 4]);
//! let (mut residual, mut out) = ([1.0_f32; 4], [0.0_f32; 4]);
//! fused_add_rms_norm(
//!     &norm,
//!     Output::apart(TensorRef::new(&input, &[1, 4])?, TensorMut::new(&mut out, &[1, 4])?),
//!     TensorMut::new(&mut residual, &[1, 4])?,
//!     Some(TensorRef::new(&weight, &[4])?.into()),
//!     0.0,
//!     &stream,
//! )?;
//! assert_eq!(residual, [2.0, 3.0, 4.0, 5.0]);
//! assert!((out[0] - 2.0 / 13.5_f32.sqrt()).abs() < 1e-6);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`ops`] has the operators; engines that hold device pointers call [`Prepared::enqueue`] directly. [`runtime()`] is a
//! runtime with every solution of this build; [`initialize`] keeps one for the whole process.

mod call;
pub mod ops;
mod solutions;

pub use call::{CallError, Handle, enqueue, pack, prepared};
#[cfg(feature = "cpu")]
pub use solutions::host_stream;
pub use solutions::{SolutionError, initialize, platform, runtime};

pub use opweave_contract::{Clause, ContractError, Operator, ProblemError, Promise};
pub use opweave_device::{DeviceKey, HostStream, LaunchError, StreamRef};
pub use opweave_registry::{CheckedCall, EnqueueError, ExecutionMode, PackedLayout, Prepared, Workspace};
pub use opweave_runtime::{
    Bindings, Config, Demands, Environment, InitializeError, Profile, Request, Runtime, RuntimeBuilder, StateError,
};
pub use opweave_tensor::{
    AnyMut, AnyRef, DType, DeviceId, DeviceKind, F8E4M3, F8E5M2, F8E8M0, LayoutId, Output, RawTensor, TensorMut,
    TensorRef, ViewError,
};

pub use {
    opweave_contract as contract, opweave_device as device, opweave_registry as registry, opweave_runtime,
    opweave_tensor,
};

/// NVIDIA GPUs: the caller's streams, and a device for harnesses.
#[cfg(feature = "cuda")]
pub use opweave_device_cuda as cuda;

/// Ascend NPUs: the caller's streams, and a device for harnesses. Not run on hardware.
#[cfg(feature = "npu")]
pub use opweave_device_npu as npu;

/// The README's example is a test.
#[cfg(all(doctest, feature = "cpu"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
