// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Codes in plain Rust, one number at a time, without branches that a vectoriser could not turn into selects.

use opweave_tensor::{F8E4M3, F8E5M2};

use super::{CodeKind, E4M3, E4M3_SHIFT, E5M2, E5M2_SHIFT, Float8, I8_RANGE, prescale, round_and_rebias};

/// The value of the code with this pattern.
#[inline(always)]
pub(in crate::simd) fn widen(kind: CodeKind, bits: u8) -> f32 {
    match kind {
        CodeKind::F8E4M3 => F8E4M3::from_bits(bits).to_f32(),
        CodeKind::F8E5M2 => F8E5M2::from_bits(bits).to_f32(),
        CodeKind::I8 => f32::from(bits as i8),
    }
}

/// The pattern of the code that `value` rounds to.
#[inline(always)]
pub(in crate::simd) fn narrow(kind: CodeKind, value: f32) -> u8 {
    match kind {
        CodeKind::F8E4M3 => narrow_f8(E4M3_SHIFT, E4M3, value),
        CodeKind::F8E5M2 => narrow_f8(E5M2_SHIFT, E5M2, value),
        CodeKind::I8 => narrow_i8(value),
    }
}

/// The code of `value`, which is given with the prescale.
#[inline(always)]
pub(in crate::simd) fn narrow_bounded(kind: CodeKind, value: f32, sign: f32) -> u8 {
    match kind {
        CodeKind::I8 => narrow(kind, value),
        _ => narrow(kind, (value / prescale(kind)).copysign(sign)),
    }
}

#[inline(always)]
fn narrow_f8(shift: u32, format: Float8, value: f32) -> u8 {
    let bits = value.to_bits();
    // Not `f32::min`: NaN goes on.
    let magnitude = if value.abs() > format.largest { format.largest } else { value.abs() };
    let kept = magnitude.to_bits();
    let normal = kept.wrapping_add(round_and_rebias(shift, format)).wrapping_add((kept >> shift) & 1) >> shift;
    let subnormal = (magnitude + format.rounder).to_bits().wrapping_sub(format.rounder.to_bits());
    let code = if magnitude < format.smallest_normal { subnormal } else { normal };
    let nan = bits & 0x7fff_ffff > 0x7f80_0000;
    (if nan { u32::from(format.nan) } else { code | ((bits >> 24) & 0x80) }) as u8
}

#[inline(always)]
fn narrow_i8(value: f32) -> u8 {
    let (least, most) = I8_RANGE;
    let low = if value > least { value } else { least };
    let clamped = if low < most { low } else { most };
    // From 2^23 to 2^24 the spacing of f32 is one, so the sum rounds to an integer, which is then the low bits.
    let rounded = (clamped + 1.5 * (1_u32 << 23) as f32).to_bits() as u8;
    if value.is_nan() { 0 } else { rounded }
}
