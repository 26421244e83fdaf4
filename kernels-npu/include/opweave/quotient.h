// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Quotients that are exact whatever the hardware's division makes of its last place, which no document promises.

#pragma once

#include "bits.h"

namespace opweave {

// `value` / `divisor` rounded to the nearest f32, ties to even, by integers. `value` is finite and not negative, `divisor` below 256.
__aicore__ inline float exact_quotient(float value, uint32_t divisor) {
  const uint32_t bits = bits_of(value);
  const bool normal = bits >> FRACTION != 0;
  const uint64_t significand = (bits & 0x7fffff) | (normal ? 0x800000 : 0);
  const int32_t exponent = normal ? exponent_of(value) : -126;
  // 40 places more than the significand has: the quotient keeps more than 24 of them.
  const uint64_t wide = significand << 40;
  const uint64_t quotient = wide / divisor;
  if (quotient == 0) return 0.0f;
  int32_t top = 0;
  while (quotient >> top > 1) ++top;
  // The unit of the result is 2^-23 of its exponent, and never below 2^-149.
  const int32_t of_result = top + exponent - 63;
  const int32_t shift = of_result >= -126 ? top - FRACTION : -exponent - 86;
  const uint64_t kept = quotient >> shift, rest = quotient & ((uint64_t{1} << shift) - 1), half = uint64_t{1} << (shift - 1);
  const bool exact = wide % divisor == 0;
  const bool up = rest > half || (rest == half && (!exact || (kept & 1) != 0));
  // A carry out of the significand is the next exponent, and out of numbers below the normal range the smallest in it.
  const uint64_t base = of_result >= -126 ? static_cast<uint64_t>(of_result + 126) << FRACTION : 0;
  return float_of(static_cast<uint32_t>(base + kept + (up ? 1 : 0)));
}

}  // namespace opweave
