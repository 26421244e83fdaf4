// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Root mean squares in f32: their sums, their reciprocals, and what is trusted of them.

#pragma once

#include <opweave/ptx.cuh>

namespace opweave {

// Below this argument of the reciprocal root f32 is not trusted: above it, squares that vanished (below 2^-149 each) change
// nothing, and the root's reciprocal stays in the normal range. The same bound as on the CPU.
inline constexpr float TRUSTED_FROM = 0x1p-98f;
inline constexpr float LARGEST = 0x1.fffffep127f;

// Whether f32 did well: in range, and neither an infinity nor NaN, for which every comparison is false.
__device__ __forceinline__ bool trusted(float argument) { return argument >= TRUSTED_FROM && argument <= LARGEST; }

// 1 / sqrt(a) for a trusted `a`, to about half an ulp: the unit's approximation and one step of Newton's.
__device__ __forceinline__ float reciprocal_root(float a) {
  const float r = ptx::reciprocal_root(a);
  // How far a * r^2 is from 1; a * r lies between a and 1, so it is in range.
  const float error = fmaf(-a * r, r, 1.0f);
  return fmaf(0.5f * r, error, r);
}

// The sum of the squares of one pack, by halves.
template <int N>
__device__ __forceinline__ float squares(const float (&v)[N]) {
  if constexpr (N == 1) {
    return v[0] * v[0];
  } else {
    float s[N / 2];
#pragma unroll
    for (int i = 0; i < N / 2; i++) s[i] = fmaf(v[i], v[i], v[i + N / 2] * v[i + N / 2]);
#pragma unroll
    for (int n = N / 4; n > 0; n /= 2) {
#pragma unroll
      for (int i = 0; i < n; i++) s[i] += s[i + n];
    }
    return s[0];
  }
}

}  // namespace opweave
