// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Words to normal deviates, by basic arithmetic alone.
//!
//! Box and Muller, "A note on the generation of random normal deviates" (1958), with a logarithm and a sine that use only
//! operations that IEEE 754 rounds correctly. The logarithm of a system's math library differs between systems in the
//! last place, and the inputs of a report must be the same on all of them.

use std::f64::consts::{LN_2, PI, SQRT_2};

/// Deviates that are made side by side: a lane depends on no other, so the compiler makes vectors of them. One after another
/// they wait for their divisions.
pub(super) const LANES: usize = 32;

/// Two independent standard normal deviates from each pair of words.
#[inline(never)]
pub(super) fn normal_pairs(words: &[[u32; LANES]; 2]) -> [[f32; LANES]; 2] {
    let mut deviates = [[0.0; LANES]; 2];
    for lane in 0..LANES {
        // In (0, 1]: the logarithm of zero is not wanted.
        let u = (f64::from(words[0][lane]) + 1.0) / 4_294_967_296.0;
        let radius = (-2.0 * ln(u)).sqrt();
        let (sine, cosine) = sine_cosine_of_turns(words[1][lane]);
        deviates[0][lane] = (radius * cosine) as f32;
        deviates[1][lane] = (radius * sine) as f32;
    }
    deviates
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
#[inline]
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    let high = mantissa > SQRT_2;
    let exponent = (bits >> 52) as i32 - 1023 + i32::from(high);
    let mantissa = if high { mantissa / 2.0 } else { mantissa };
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    // |s| < 0.172, so the first term left out is below 1e-15.
    let series = [17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0].iter().fold(0.0, |sum, n| sum * square + 1.0 / n);
    f64::from(exponent) * LN_2 + 2.0 * s * series
}

/// Sine and cosine of 2 pi turns, for `word` / 2^32 turns.
#[inline]
fn sine_cosine_of_turns(word: u32) -> (f64, f64) {
    let turns = f64::from(word) / 4_294_967_296.0;
    // The nearest quarter, of two equally near ones the upper: 0 to 4.
    let quadrant = ((u64::from(word) + (1 << 29)) >> 30) as i32;
    let angle = (turns - f64::from(quadrant) / 4.0) * 2.0 * PI;
    let square = angle * angle;
    // |angle| <= pi/4; Taylor to the fifteenth and sixteenth power.
    let sine = angle * [210.0, 156.0, 110.0, 72.0, 42.0, 20.0, 6.0].iter().fold(1.0, |sum, n| 1.0 - sum * square / n);
    let cosine = [240.0, 182.0, 132.0, 90.0, 56.0, 30.0, 12.0, 2.0].iter().fold(1.0, |sum, n| 1.0 - sum * square / n);
    let (sine, cosine) = if quadrant & 1 == 0 { (sine, cosine) } else { (cosine, sine) };
    // The sine is negative in the second and third quarter turn, the cosine in the first and second.
    (negated(sine, quadrant >> 1), negated(cosine, (quadrant + 1) >> 1))
}

/// The number with its sign turned if `odd` is.
#[inline]
fn negated(number: f64, odd: i32) -> f64 {
    f64::from_bits(number.to_bits() ^ (odd as u64 & 1) << 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elementary_functions_agree_with_the_system() {
        for i in 1..=20_000_u32 {
            let u = f64::from(i) / 20_000.0;
            assert!((ln(u) - u.ln()).abs() <= 1e-14 * u.ln().abs().max(1e-2), "ln {u}");
            let word = (i - 1).wrapping_mul(214_748) + i % 7;
            let angle = f64::from(word) / 4_294_967_296.0 * 2.0 * PI;
            let (sine, cosine) = sine_cosine_of_turns(word);
            assert!((sine - angle.sin()).abs() < 2e-14 && (cosine - angle.cos()).abs() < 2e-14, "word {word}");
        }
        assert!(((ln(1.0 / 4_294_967_296.0)) + 32.0 * LN_2).abs() < 1e-14);
        assert_eq!(ln(1.0), 0.0);
    }

    #[test]
    fn each_quadrant_begins_where_two_are_equally_near() {
        for eighth in 0..8_u32 {
            for word in [eighth << 29, (eighth << 29).wrapping_sub(1), (eighth << 29) + 1] {
                let angle = f64::from(word) / 4_294_967_296.0 * 2.0 * PI;
                let (sine, cosine) = sine_cosine_of_turns(word);
                assert!((sine - angle.sin()).abs() < 2e-14 && (cosine - angle.cos()).abs() < 2e-14, "word {word:08x}");
            }
        }
    }

    #[test]
    fn extreme_words_give_finite_deviates() {
        for a in [0, 1, u32::MAX] {
            for b in [0, 1, 1 << 30, 1 << 31, 3 << 30, u32::MAX] {
                let deviates = normal_pairs(&[[a; LANES], [b; LANES]]);
                assert!(deviates.iter().flatten().all(|x| x.is_finite() && x.abs() < 7.0));
            }
        }
        assert_eq!(symmetric(0), -1.0);
        assert!(symmetric(u32::MAX) < 1.0);
        assert_eq!((pick(0, -8, 17), pick(u32::MAX, -8, 17)), (-8, 8));
    }
}
