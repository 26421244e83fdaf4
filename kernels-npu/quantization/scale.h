// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// The scale of a row, on the scalar unit.

#pragma once

#include "opweave/quant_tiling.h"
#include "opweave/quotient.h"

namespace opweave {

// The largest code of i8, in either range.
constexpr uint32_t LARGEST_CODE = 127;

struct Scale {
  float value;        // what elements are divided by
  uint8_t exponent;   // how a power of two is stored, as 2^(exponent - 127)
};

// Of a row whose largest magnitude is `largest`, which is finite.
__aicore__ inline Scale scale_of(float largest, const QuantTiling& tiling) {
  float scale = exact_quotient(largest, LARGEST_CODE);
  if (tiling.floor > 0.0f) {
    scale = scale > tiling.floor ? scale : tiling.floor;
  } else if (largest == 0.0f) {
    scale = 1.0f;
  } else if (bits_of(scale) == 0) {
    scale = float_of(1);  // 2^-149: what would be zero is the smallest number
  }
  if ((tiling.flags & QUANT_SCALE_POWER_OF_TWO) == 0) return Scale{scale, 0};
  const uint32_t bits = bits_of(scale);
  const uint32_t exponent = bits >> FRACTION, more = bits & 0x7fffff;
  // Rounded up, and at least 2^-127, which lies in the middle of the numbers below the normal range.
  if (exponent == 0) return more <= 0x400000 ? Scale{float_of(0x400000), 0} : Scale{power_of_two(-126), 1};
  const uint32_t up = exponent + (more != 0 ? 1 : 0);
  return Scale{float_of(up << FRACTION), static_cast<uint8_t>(up)};
}

}  // namespace opweave
