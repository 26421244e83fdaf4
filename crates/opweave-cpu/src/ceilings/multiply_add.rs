// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Arithmetic with all operands in registers.

use std::hint::black_box;

use opweave_device::cpu::Parallel;

use crate::simd::{Isa, Simd, SimdOp};

/// Independent chains: two units times a latency of four to six cycles, and within sixteen registers.
const CHAINS: usize = 12;

struct Chains {
    rounds: u64,
}

impl SimdOp for Chains {
    type Output = u64;

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> u64 {
        // Values that stay near one, so that no operand becomes special.
        let (factor, term) = (s.splat(black_box(0.999)), s.splat(black_box(0.001)));
        let mut chains = [s.splat(black_box(1.0)); CHAINS];
        for _ in 0..self.rounds {
            for chain in &mut chains {
                *chain = s.fma(*chain, factor, term);
            }
        }
        for chain in chains {
            black_box(s.sum(chain));
        }
        self.rounds * (CHAINS * S::LANES * 2) as u64
    }
}

/// Runs `rounds` rounds of f32 multiply-adds on every thread of `pool` and answers how many floating-point operations that
/// was.
pub fn multiply_add(isa: Isa, pool: &dyn Parallel, rounds: u64) -> u64 {
    let total = std::sync::atomic::AtomicU64::new(0);
    pool.run(pool.threads(), &|_| {
        total.fetch_add(isa.run(Chains { rounds }), std::sync::atomic::Ordering::Relaxed);
    });
    total.into_inner()
}
