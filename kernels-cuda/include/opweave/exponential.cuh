// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// The exponential as a number near 1 and a power of two, to half an ulp or so.
//
// Results of 16 bits do with the unit's own `ptx::exp2`. Those of 32 bits do not: what an argument of 80 loses in its product
// with log2(e) is dozens of ulps of the exponential. So: x = n ln 2 + r with ln 2 in two parts (Cody and Waite), a polynomial
// for e^r, and the power of two multiplied in where the caller wants it, which may be after factors that lift the result out
// of the range where f32 loses places.

#pragma once

#include <opweave/round.cuh>

namespace opweave {

inline constexpr float LOG2_E = 1.44269504f;

// mantissa * 2^exponent; the exponent is a whole number.
struct Scaled {
  float mantissa;
  float exponent;
};

// A polynomial by Horner's rule, the highest power first.
template <int N>
__device__ __forceinline__ float polynomial(float x, const float (&coefficients)[N]) {
  float p = coefficients[0];
#pragma unroll
  for (int i = 1; i < N; i++) p = fmaf(p, x, coefficients[i]);
  return p;
}

// 2^n for a whole n from -126 to 127.
__device__ __forceinline__ float power_of_two(int n) { return __uint_as_float(static_cast<uint32_t>(n + 127) << 23); }

// v * 2^n for a whole n from -250 to 0, rounded once: the first half leaves a number that is not tiny in the normal range.
__device__ __forceinline__ float scale(float v, float n) {
  const int whole = static_cast<int>(n), half = whole >> 1;
  return v * power_of_two(half) * power_of_two(whole - half);
}

// e^(x + rest) for x from -300 to 0, `rest` being tiny beside 1. A NaN stays in the mantissa.
__device__ __forceinline__ Scaled exponential(float x, float rest) {
  constexpr float SHIFTER = 0x1.8p23f;         // to add it leaves a whole number in the last places
  constexpr float UPPER = 355.0f / 512.0f;     // of ln 2: so few bits that its product with any n is exact
  constexpr float LOWER = -2.1219444e-4f;      // ln 2 less that
  // (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, the polynomial whose greatest error in proportion to e^r, 3.1e-9, is least.
  constexpr float E[5] = {1.3814478e-3f, 8.368781e-3f, 4.1668393e-2f, 1.666652e-1f, 4.9999994e-1f};
  const float n = __fadd_rn(fmaf(x, LOG2_E, SHIFTER), -SHIFTER);
  const float r = fmaf(n, -LOWER, fmaf(n, -UPPER, x)) + rest;
  return Scaled{fmaf(r * r, polynomial(r, E), r) + 1.0f, n};
}

// 1 / d for a d of ordinary size, to about half an ulp: the unit's approximation and one step of Newton's.
__device__ __forceinline__ float reciprocal(float d) {
  const float r = ptx::reciprocal(d);
  return fmaf(r, fmaf(-d, r, 1.0f), r);
}

}  // namespace opweave
