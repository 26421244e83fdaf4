// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `linear` on the CPU.

use opweave_contract::ops::linear::{Linear, LinearArgs, LinearProblem};
use opweave_device::cpu::Parallel;

use crate::native::Native;
use crate::reference;
use crate::simd::Isa;

impl Native for Linear {
    unsafe fn run(problem: &LinearProblem, args: &LinearArgs, _: Isa, _: &dyn Parallel) {
        // SAFETY: the caller's clauses.
        if let Ok(arguments) = unsafe { reference::compute::<Linear>(problem, args) } {
            // SAFETY: the caller's clauses.
            unsafe { reference::put::<Linear>(args, &arguments) };
        }
    }
}
