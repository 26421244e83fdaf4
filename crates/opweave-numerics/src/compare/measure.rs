// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Distances and norms that the comparator measures with.

use crate::codec::Format;

/// Place of a float's pattern in the order of numbers: neighbours differ by one, both zeros are 0.
const fn place(format: Format, bits: u64) -> i128 {
    let magnitude = (bits & format.magnitude_mask()) as i128;
    if bits & format.sign_bit() == 0 { magnitude } else { -magnitude }
}

/// How many numbers of the format lie between two patterns, one end counted. Not meaningful for NaN.
pub fn ulp_distance(format: Format, a: u64, b: u64) -> u64 {
    place(format, a).abs_diff(place(format, b)).min(u64::MAX.into()) as u64
}

/// Magnitudes whose squares, many of them, neither overflow nor underflow.
const PLAIN: std::ops::Range<f64> = 1e-140..1e140;

/// A root of a sum of squares that neither overflows nor underflows. Ordinary magnitudes are summed as they are; the rest,
/// which only f64 outputs have, relative to the largest of them so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SquareSum {
    plain: f64,
    scale: f64,
    scaled: f64,
}

impl SquareSum {
    /// Adds the square of a finite number.
    pub(super) fn add(&mut self, value: f64) {
        let value = value.abs();
        if PLAIN.contains(&value) {
            self.plain += value * value;
        } else if value > 0.0 {
            self.add_scaled(value, 1.0);
        }
    }

    fn add_scaled(&mut self, scale: f64, sum: f64) {
        if scale > self.scale {
            let ratio = self.scale / scale;
            *self = SquareSum { scale, scaled: sum + self.scaled * ratio * ratio, ..*self };
        } else if scale > 0.0 {
            let ratio = scale / self.scale;
            self.scaled += sum * ratio * ratio;
        }
    }

    /// Adds another sum.
    pub(super) fn merge(&mut self, other: SquareSum) {
        self.plain += other.plain;
        self.add_scaled(other.scale, other.scaled);
    }

    /// The root of the sum.
    pub(super) fn root(self) -> f64 {
        self.plain.sqrt().hypot(self.scale * self.scaled.sqrt())
    }

    /// The root of the mean of `count` squares; 0 for none.
    pub(super) fn root_mean(self, count: usize) -> f64 {
        let root = (count as f64).sqrt();
        if count == 0 { 0.0 } else { (self.plain.sqrt() / root).hypot(self.scale * (self.scaled.sqrt() / root)) }
    }
}

#[cfg(test)]
mod tests {
    use opweave_tensor::DType;

    use super::*;
    use crate::codec::format;

    #[test]
    fn ulps_count_numbers_across_zero_and_exponents() {
        let half = format(DType::F16).unwrap();
        let distance = |a: f64, b: f64| ulp_distance(half, half.encode(a), half.encode(b));
        assert_eq!(distance(1.0, 1.0), 0);
        assert_eq!(distance(0.0, -0.0), 0);
        assert_eq!(distance(1.0, 1.0 + half.epsilon()), 1);
        assert_eq!(distance(1.0, 1.0 - half.epsilon() / 2.0), 1);
        assert_eq!(distance(half.smallest(), -half.smallest()), 2);
        assert_eq!(distance(2.0, 1.0), 1024);
        assert_eq!(distance(65504.0, f64::INFINITY), 1);
        let double = format(DType::F64).unwrap();
        assert_eq!(ulp_distance(double, f64::MAX.to_bits(), f64::MIN.to_bits()), 2 * f64::MAX.to_bits());
    }

    #[test]
    fn square_sums_hold_at_both_ends_of_the_range() {
        for factor in [1.0, 1e300, 1e-300, 1e-310] {
            let mut sum = SquareSum::default();
            [3.0, 0.0, -4.0].iter().for_each(|v| sum.add(v * factor));
            assert!((sum.root() / (5.0 * factor) - 1.0).abs() < 1e-12, "{factor:e}");
            let mut merged = SquareSum::default();
            merged.merge(SquareSum::default());
            for value in [12.0, 5.0] {
                let mut one = SquareSum::default();
                one.add(value * factor);
                merged.merge(one);
            }
            assert!((merged.root() / (13.0 * factor) - 1.0).abs() < 1e-12, "{factor:e}");
        }
        assert_eq!(SquareSum::default().root_mean(0), 0.0);
    }
}
