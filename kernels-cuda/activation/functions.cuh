// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// The activations, each times a factor. `short_way` is for results of 16 bits, right to a few ulps of f32 in its usual range and
// to far less than a place of 16 bits everywhere; `long_way` for results of 32 bits, right to about two.
//
// All are even functions of z in disguise: what is computed from |z| overflows in neither tail, and on the left the activation is
// that small number itself, where a sum with 1 would have lost its places. The product with z comes last, so that -infinity
// gives NaN, as the definitions say.

#pragma once

#include <opweave/exponential.cuh>

namespace opweave {

// z / (1 + e^-u) for a short way, given u.
__device__ __forceinline__ float short_gate(float z, float u) {
  const float e = ptx::exp2(fabsf(u) * -LOG2_E);
  return (z < 0 ? e : 1.0f) * ptx::reciprocal(1.0f + e) * z;
}

// y * factor / (1 + e^-z), given e^-|z|: 1 / (1 + e) or, for a negative z, e / (1 + e). What e would lose below 2^-100 is
// multiplied in last: y may bring it back.
__device__ __forceinline__ float long_gate(float y, float factor, float z, Scaled e) {
  const float first = e.exponent < -100.0f ? -100.0f : e.exponent;
  const float tail = e.mantissa * power_of_two(static_cast<int>(first));
  const float gate = (z < 0 ? tail : 1.0f) * reciprocal(1.0f + tail);
  return scale(y * gate * factor, z < 0 ? e.exponent - first : 0.0f);
}

// Brings the NaN of -infinity back where a bounded factor took its place; elsewhere nothing changes.
__device__ __forceinline__ float with_nan_of(float v, float z) { return z < 0 ? v + z * 0.0f : v; }

struct Silu {
  static __device__ __forceinline__ float short_way(float z) { return short_gate(z, z); }

  static __device__ __forceinline__ float long_way(float y, float z) {
    // Below it, x e^x times the largest number is nearer to 0 than to the smallest.
    constexpr float LEAST = -204.0f;
    const Scaled e = exponential(ptx::larger(LEAST, -fabsf(z)), 0.0f);
    return with_nan_of(long_gate(y, ptx::larger(2 * LEAST, z), z, e), z);
  }
};

struct GeluTanh {
  // 2 sqrt(2 / pi) in two parts, and the same times 0.044715: 2 u = z (LINEAR + CUBIC z^2).
  static constexpr float LINEAR = 1.5957692f, LINEAR_REST = -4.534068e-8f;
  static constexpr float CUBIC = 7.1354814e-2f, CUBIC_REST = 2.3988325e-9f;

  static __device__ __forceinline__ float short_way(float z) { return short_gate(z, z * fmaf(z * z, CUBIC, LINEAR)); }

  static __device__ __forceinline__ float long_way(float y, float z) {
    // Beyond it e^(2 u) leaves the range of `scale`. What GELU is there, 1e-69, takes a factor above 1e24 to be seen at all.
    constexpr float MOST = 12.6f;
    const float a = ptx::smaller(MOST, fabsf(z));
    // 2 u with twice the places of f32. Sums and products that errors are taken of must stay as they are written.
    const float square = __fmul_rn(a, a), square_rest = fmaf(a, a, -square);
    const float cubic = __fmul_rn(square, CUBIC);
    const float cubic_rest = fmaf(square_rest, CUBIC, fmaf(square, CUBIC_REST, fmaf(square, CUBIC, -cubic)));
    const float sum = __fadd_rn(cubic, LINEAR);
    const float linear = __fadd_rn(sum, -cubic);
    const float sum_rest =
        __fadd_rn(__fadd_rn(cubic, -__fadd_rn(sum, -linear)), __fadd_rn(LINEAR, -linear)) + LINEAR_REST + cubic_rest;
    const float twice = __fmul_rn(a, sum), twice_rest = fmaf(a, sum_rest, fmaf(a, sum, -twice));
    return with_nan_of(long_gate(y, ptx::larger(-MOST, z), z, exponential(-twice, -twice_rest)), z);
  }
};

struct Gelu {
  static constexpr float STRETCH = 0.38f * 0.70710678f;

  // e^(t^2) erfc(t) in powers of w = 1 / (1 + 0.38 t), t being |z| / sqrt(2): the polynomial whose greatest error in proportion,
  // 2.0e-8 for t up to 10.3, is least.
  static __device__ __forceinline__ float complement(float w) {
    constexpr float FAR[9] = {5.8999926e-2f, -2.624477e-1f, 3.6421952e-1f, -1.6188703e-1f, 2.3033524e-1f,
                              1.3851057e-1f, 2.0394453e-1f, 2.1391363e-1f, 2.1441132e-1f};
    return w * polynomial(w, FAR);
  }

  static __device__ __forceinline__ float short_way(float z) {
    const float e = ptx::exp2(z * z * (-0.5f * LOG2_E));
    const float w = ptx::reciprocal(fmaf(fabsf(z), STRETCH, 1.0f));
    const float tail = 0.5f * e * complement(w);
    return (z < 0 ? tail : 1.0f - tail) * z;
  }

  static __device__ __forceinline__ float long_way(float y, float z) {
    // Where the exponent leaves the range of `scale`. What GELU is there, 1e-75, takes a factor above 1e30 to be seen at all.
    constexpr float MOST = 18.6f;
    const float a = ptx::smaller(MOST, fabsf(z));
    // The square with twice the places of f32.
    const float square = __fmul_rn(a, a), lost = fmaf(a, a, -square);
    const Scaled e = exponential(-0.5f * square, -0.5f * lost);
    // w with what its denominator loses, which would come out three times as large.
    const float d = fmaf(a, STRETCH, 1.0f), d_rest = fmaf(a, STRETCH, 1.0f - d), r = ptx::reciprocal(d);
    const float w = fmaf(r, fmaf(-d_rest, r, fmaf(-d, r, 1.0f)), r);
    const float tail = 0.5f * e.mantissa * complement(w);
    const float factor = z < 0 ? tail : 1.0f - scale(tail, e.exponent);
    // In this order a tiny z loses nothing before a large y has made up for it.
    const float product = y * factor * ptx::larger(-MOST, z);
    return with_nan_of(z < 0 ? scale(product, e.exponent) : product, z);
  }
};

}  // namespace opweave
