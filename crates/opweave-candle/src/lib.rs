// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! opweave's fused operators on candle's tensors, on the CPU.
//!
//! Prepare them once, next to the model's weights, and call them in place of the composed ones:
//!
//! ```
//! use candle_core::{DType, Device, Tensor};
//! use opweave_candle::{RmsNorm, Session};
//!
//! let session = Session::new(1)?; // threads; 0 for as many as there are
//! let norm = RmsNorm::new(&session, 4, DType::F32, 1e-6)?; // this was the selection
//! println!("runs {}", norm.kernel());
//!
//! let x = Tensor::new(&[[1.0_f32, 2.0, 3.0, 4.0]], &Device::Cpu)?;
//! let weight = Tensor::ones(4, DType::F32, &Device::Cpu)?;
//! let y = norm.forward(&x, &weight)?.to_vec2::<f32>()?;
//! assert!((y[0][3] - 4.0 / 7.5_f32.sqrt()).abs() < 1e-5);
//! # Ok::<(), candle_core::Error>(())
//! ```
//!
//! What candle allocates it still allocates: each call makes its result's storage, as every custom operator does. Rows may
//! be strided, as `narrow` and `transpose` leave them; what cannot be seen as rows of one stride is refused with a word
//! about `contiguous()`. There is no gradient: these are operators of inference.

mod activation;
mod normalization;
mod rotary;
mod rows;
mod session;
mod softmax;

pub use activation::{Activation, GatedActivation};
pub use normalization::{FusedAddRmsNorm, LayerNorm, RmsNorm};
pub use rotary::{Rotary, RotaryStyle};
pub use session::Session;
pub use softmax::Softmax;
