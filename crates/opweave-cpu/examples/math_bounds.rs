// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The worst distance of each vector function from f64, in units of the last place, over all 2^32 numbers of f32.
//!
//! `cargo run --release -p opweave-cpu --example math_bounds [-- FUNCTION]`
//!
//! About two minutes for each function.

use opweave_cpu::simd::math::{erf, exp, sigmoid, tanh};
use opweave_cpu::simd::{Isa, Simd, SimdOp};

#[derive(Clone, Copy)]
enum Function {
    Exp,
    Sigmoid,
    Tanh,
    Erf,
}

const FUNCTIONS: [(&str, Function); 4] =
    [("exp", Function::Exp), ("sigmoid", Function::Sigmoid), ("tanh", Function::Tanh), ("erf", Function::Erf)];

struct Map(Function, [f32; 16]);

impl SimdOp for Map {
    type Output = [f32; 16];

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> [f32; 16] {
        let mut out = [0.0; 16];
        for i in (0..16).step_by(S::LANES) {
            // SAFETY: sixteen elements are there, a multiple of every instruction set's lanes.
            unsafe {
                let x = s.load_f32(self.1.as_ptr().add(i));
                let y = match self.0 {
                    Function::Exp => exp(s, x),
                    Function::Sigmoid => sigmoid(s, x),
                    Function::Tanh => tanh(s, x),
                    Function::Erf => erf(s, x),
                };
                s.store_f32::<false>(out.as_mut_ptr().add(i), y);
            }
        }
        out
    }
}

impl Function {
    fn exact(self, x: f64) -> f64 {
        match self {
            Function::Exp => x.exp(),
            Function::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Function::Tanh => x.tanh(),
            Function::Erf => libm::erf(x),
        }
    }
}

/// As in the unit tests, without their allowance beside infinity, which is counted as one unit.
fn ulps(actual: f32, exact: f64) -> f64 {
    if exact.is_nan() || actual.is_nan() {
        return if exact.is_nan() && actual.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if actual.is_infinite() || (exact as f32).is_infinite() {
        return if actual == exact as f32 {
            0.0
        } else {
            f64::from(f32::MAX) / (f64::from(f32::MAX) - exact.abs()).abs()
        };
    }
    let exponent = ((exact.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    (f64::from(actual) - exact).abs() / f64::powi(2.0, exponent.max(-126) - 23)
}

/// An exact value, and how many units of the last place there are to one, or NaN where only [`ulps`] knows.
fn with_scale(exact: f64) -> (f64, f64) {
    let usual = exact == 0.0 || (f64::from(f32::MIN_POSITIVE)..1e38).contains(&exact.abs());
    let exponent = ((exact.to_bits() >> 52) & 0x7ff).max(1023 - 126);
    (exact, if usual { f64::from_bits((2 * 1023 + 23 - exponent) << 52) } else { f64::NAN })
}

/// The worst of all bit patterns for each instruction set; the exact values, which take most of the time, are made once.
fn worst(isas: &[Isa], function: Function) -> Vec<(f64, f32)> {
    let mut worst = vec![(0.0, 0.0); isas.len()];
    for first in (0..=u32::MAX).step_by(16) {
        let x: [f32; 16] = std::array::from_fn(|i| f32::from_bits(first + i as u32));
        let exact = x.map(|x| with_scale(function.exact(f64::from(x))));
        for (worst, isa) in worst.iter_mut().zip(isas) {
            let y = isa.run(Map(function, x));
            for ((x, y), (exact, units)) in x.into_iter().zip(y).zip(exact) {
                if (f64::from(y) - exact).abs() * units <= worst.0 {
                    continue;
                }
                // Farther, or not a number: a look at it.
                let distance = ulps(y, exact);
                if distance > worst.0 {
                    *worst = (distance, x);
                }
            }
        }
    }
    worst
}

fn main() {
    let only = std::env::args().nth(1);
    let isas = Isa::available();
    for (name, function) in FUNCTIONS.into_iter().filter(|(name, _)| only.as_deref().is_none_or(|o| o == *name)) {
        for ((distance, x), isa) in worst(&isas, function).into_iter().zip(&isas) {
            println!("{name:8} {:9} {distance:.3} at {x:e}", isa.name());
        }
    }
}
