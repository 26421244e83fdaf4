// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// f32 by its bits, on the scalar unit.

#pragma once

#include "kernel_operator.h"

namespace opweave {

constexpr uint32_t INFINITY_BITS = 0x7f800000;
constexpr uint32_t NAN_BITS = 0x7fc00000;
constexpr int32_t BIAS = 127;
constexpr int32_t FRACTION = 23;

__aicore__ inline uint32_t bits_of(float value) { return *reinterpret_cast<uint32_t*>(&value); }
__aicore__ inline float float_of(uint32_t bits) { return *reinterpret_cast<float*>(&bits); }

// 2^exponent, a normal number.
__aicore__ inline float power_of_two(int32_t exponent) { return float_of(static_cast<uint32_t>(exponent + BIAS) << FRACTION); }

// The exponent of a positive number; -127 for zero and what is below the normal range.
__aicore__ inline int32_t exponent_of(float value) { return static_cast<int32_t>(bits_of(value) >> FRACTION) - BIAS; }

}  // namespace opweave
