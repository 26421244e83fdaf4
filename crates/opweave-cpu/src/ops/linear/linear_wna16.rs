// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `linear_wna16` on the CPU.

use opweave_contract::ops::linear::{LinearWna16, LinearWna16Args, LinearWna16Problem};
use opweave_device::cpu::Parallel;

use crate::native::Native;
use crate::reference;
use crate::simd::Isa;

impl Native for LinearWna16 {
    unsafe fn run(problem: &LinearWna16Problem, args: &LinearWna16Args, _: Isa, _: &dyn Parallel) {
        // SAFETY: the caller's clauses.
        if let Ok(arguments) = unsafe { reference::compute::<LinearWna16>(problem, args) } {
            // SAFETY: the caller's clauses.
            unsafe { reference::put::<LinearWna16>(args, &arguments) };
        }
    }
}
