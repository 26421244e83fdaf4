// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The scale of a row.

use opweave_contract::ops::quantization::ScaleFormat;
use opweave_tensor::F8E8M0;

/// From the largest magnitude of a row to its scale.
#[derive(Clone, Copy, Debug)]
pub struct ScaleRule {
    /// The largest code.
    pub largest_code: f32,
    /// The smallest scale; 0 for none.
    pub floor: f32,
    /// How it is stored.
    pub format: ScaleFormat,
}

/// The smallest number above zero.
const SMALLEST: f32 = f32::from_bits(1);

impl ScaleRule {
    /// The scale, a number that the format holds: NaN for an infinity or NaN; without a floor, 1 for a row of zeros.
    #[inline(always)]
    pub(crate) fn scale(self, largest: f32) -> f32 {
        if !largest.is_finite() {
            return f32::NAN;
        }
        let scale = largest / self.largest_code;
        let scale = if self.floor > 0.0 {
            scale.max(self.floor)
        } else if largest == 0.0 {
            1.0
        } else {
            // What rounds to zero would make infinities of the numbers and NaN of the zeros beside them.
            scale.max(SMALLEST)
        };
        match self.format {
            ScaleFormat::F32 => scale,
            ScaleFormat::PowerOfTwo => power_of_two_above(scale).to_f32(),
        }
    }

    /// Writes a scale that [`ScaleRule::scale`] gave.
    ///
    /// # Safety
    /// - `scales` is valid for writing an element of the format at `row`, aligned to it.
    #[inline(always)]
    pub(crate) unsafe fn write(self, scales: *mut u8, row: usize, scale: f32) {
        // SAFETY: the caller's clause.
        unsafe {
            match self.format {
                ScaleFormat::F32 => scales.cast::<f32>().add(row).write(scale),
                ScaleFormat::PowerOfTwo => scales.cast::<F8E8M0>().add(row).write(power_of_two_above(scale)),
            }
        }
    }
}

/// The smallest power of two of the format that is not below a positive number; NaN for NaN.
#[inline(always)]
fn power_of_two_above(number: f32) -> F8E8M0 {
    if number.is_nan() {
        return F8E8M0::NAN;
    }
    let bits = number.to_bits();
    // 2^-127, the smallest, lies in the middle of f32's subnormals.
    let exponent = if bits <= 1 << 22 { 0 } else { bits.div_ceil(1 << 23) };
    F8E8M0::from_bits(exponent.min(254) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_rounded_up() {
        for code in 0..=253_u8 {
            let (here, next) = (F8E8M0::from_bits(code).to_f32(), F8E8M0::from_bits(code + 1).to_f32());
            assert_eq!(power_of_two_above(here).to_bits(), code);
            assert_eq!(power_of_two_above(here.next_up()).to_bits(), code + 1, "{here:e}");
            assert_eq!(power_of_two_above(next.next_down()).to_bits(), code + 1, "{next:e}");
        }
        assert_eq!(power_of_two_above(f32::from_bits(1)).to_bits(), 0);
        assert_eq!(power_of_two_above(f32::NAN), F8E8M0::NAN);
    }

    #[test]
    fn no_finite_row_has_a_scale_that_is_not_finite_and_positive() {
        for format in [ScaleFormat::F32, ScaleFormat::PowerOfTwo] {
            for floor in [0.0, 1e-45, 1e-6] {
                let rule = ScaleRule { largest_code: 448.0, floor, format };
                for largest in [0.0, 1e-45, 3e-43, 1e-38, 1.0, f32::MAX] {
                    let scale = rule.scale(largest);
                    assert!(scale.is_finite() && scale > 0.0 && scale >= floor, "{largest:e} {scale:e}");
                }
                assert!(rule.scale(f32::INFINITY).is_nan() && rule.scale(f32::NAN).is_nan());
            }
        }
    }
}
