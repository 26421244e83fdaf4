// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Words to normal deviates, by basic arithmetic alone.
//!
//! Box and Muller, "A note on the generation of random normal deviates" (1958), with a logarithm and a sine that use only
//! operations that IEEE 754 rounds correctly. The logarithm of a system's math library differs between systems in the
//! last place, and the inputs of a report must be the same on all of them.

use std::f64::consts::{LN_2, PI, SQRT_2};

/// Two independent standard normal deviates from two words.
pub(super) fn normal_pair(a: u32, b: u32) -> (f32, f32) {
    // In (0, 1]: the logarithm of zero is not wanted.
    let u = (f64::from(a) + 1.0) / 4_294_967_296.0;
    let radius = (-2.0 * ln(u)).sqrt();
    let (sine, cosine) = sine_cosine_of_turns(f64::from(b) / 4_294_967_296.0);
    ((radius * cosine) as f32, (radius * sine) as f32)
}

/// The word as a number in [-1, 1): its upper 24 bits, which f32 holds exactly.
pub(super) fn symmetric(word: u32) -> f32 {
    (word >> 8) as f32 / 8_388_608.0 - 1.0
}

/// The word mapped to `low ..= low + count - 1` with a bias below `count` / 2^32.
pub(super) fn pick(word: u32, low: i64, count: u64) -> i64 {
    low + (u64::from(word).wrapping_mul(count) >> 32) as i64
}

/// Natural logarithm of a positive normal number: the mantissa by the area hyperbolic tangent's series.
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if mantissa > SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    // |s| < 0.172, so the first term left out is below 1e-15.
    let series = [17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0].iter().fold(0.0, |sum, n| sum * square + 1.0 / n);
    exponent as f64 * LN_2 + 2.0 * s * series
}

/// Sine and cosine of 2 pi `turns`, for turns in [0, 1).
fn sine_cosine_of_turns(turns: f64) -> (f64, f64) {
    let quadrant = (4.0 * turns + 0.5).floor();
    let angle = (turns - quadrant / 4.0) * 2.0 * PI;
    let square = angle * angle;
    // |angle| <= pi/4; Taylor to the fifteenth and sixteenth power.
    let sine = angle * [210.0, 156.0, 110.0, 72.0, 42.0, 20.0, 6.0].iter().fold(1.0, |sum, n| 1.0 - sum * square / n);
    let cosine = [240.0, 182.0, 132.0, 90.0, 56.0, 30.0, 12.0, 2.0].iter().fold(1.0, |sum, n| 1.0 - sum * square / n);
    match quadrant as i64 & 3 {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elementary_functions_agree_with_the_system() {
        for i in 1..=20_000 {
            let u = f64::from(i) / 20_000.0;
            assert!((ln(u) - u.ln()).abs() <= 1e-14 * u.ln().abs().max(1e-2), "ln {u}");
            let (sine, cosine) = sine_cosine_of_turns((f64::from(i) - 1.0) / 20_000.0);
            let angle = (f64::from(i) - 1.0) / 20_000.0 * 2.0 * PI;
            assert!((sine - angle.sin()).abs() < 2e-14 && (cosine - angle.cos()).abs() < 2e-14, "turns {u}");
        }
        assert!(((ln(1.0 / 4_294_967_296.0)) + 32.0 * LN_2).abs() < 1e-14);
        assert_eq!(ln(1.0), 0.0);
    }

    #[test]
    fn extreme_words_give_finite_deviates() {
        for a in [0, 1, u32::MAX] {
            for b in [0, 1, 1 << 30, 1 << 31, 3 << 30, u32::MAX] {
                let (x, y) = normal_pair(a, b);
                assert!(x.is_finite() && y.is_finite() && x.abs() < 7.0 && y.abs() < 7.0);
            }
        }
        assert_eq!(symmetric(0), -1.0);
        assert!(symmetric(u32::MAX) < 1.0);
        assert_eq!((pick(0, -8, 17), pick(u32::MAX, -8, 17)), (-8, 8));
    }
}
