// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// The reciprocal of a root mean square, and what is trusted of one in f32.

#pragma once

#include "bits.h"
#include "move.h"

namespace opweave {

// Below this, squares that were lost to underflow may count; above the other, some have overflowed or nearly so.
constexpr float TRUSTED_FROM = 8.271806e-25f;  // 2^-80
constexpr float TRUSTED_TO = 3.0e38f;

// The power of two that brings a row whose largest magnitude is `largest` about 1, unless epsilon counts for more. An infinite row
// stays as it is.
__aicore__ inline float scale_of_row(float largest, float epsilon) {
  if (bits_of(largest) >= INFINITY_BITS) return 1.0f;
  const int32_t row = exponent_of(largest), least = epsilon > 0.0f ? exponent_of(epsilon) / 2 : -BIAS;
  const int32_t exponent = row > least ? row : least;
  return power_of_two(exponent > 126 ? -126 : exponent < -126 ? 126 : -exponent);
}

// 1 / sqrt(value), by the vector unit, whose root is as good as its other instructions. `lanes` is two blocks.
__aicore__ inline float inverse_root(float value, const LocalTensor<float>& lanes) {
  const LocalTensor<float> one = lanes[8];
  AscendC::Duplicate(lanes, value, 8);
  AscendC::Duplicate(one, 1.0f, 8);
  vector_barrier();
  AscendC::Sqrt(lanes, lanes, 8);
  vector_barrier();
  AscendC::Div(lanes, one, lanes, 8);
  return scalar_of(lanes);
}

}  // namespace opweave
