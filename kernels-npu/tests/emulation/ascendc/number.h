// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// half and bfloat16_t as storage, and their conversions.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace emulation {

inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

inline float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

inline float widen_half(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, exponent = (bits >> 10) & 31, rest = bits & 1023;
  if (exponent == 31) return float_of(sign | 0x7f800000 | rest << 13);
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(rest), -24);
    return float_of(sign | bits_of(value));
  }
  return float_of(sign | (exponent + 112) << 23 | rest << 13);
}

// To nearest, ties to even; too large is infinity.
inline uint16_t round_half(float value) {
  const uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffff;
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {
    // Steps of 2^-24; the product is exact, and so is the rounding to an integer.
    return sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(float_of(magnitude), 24)));
  }
  const uint32_t odd = (magnitude >> 13) & 1;
  return sign | static_cast<uint16_t>((magnitude + 0xfff + odd - 0x38000000) >> 13);
}

inline uint16_t round_bfloat16(float value) {
  const uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace emulation

struct half {
  uint16_t bits;
  half() = default;
  explicit half(float value) : bits(emulation::round_half(value)) {}
  explicit half(int value) : half(static_cast<float>(value)) {}
  explicit operator float() const { return emulation::widen_half(bits); }
};

struct bfloat16_t {
  uint16_t bits;
  bfloat16_t() = default;
  explicit bfloat16_t(float value) : bits(emulation::round_bfloat16(value)) {}
  explicit bfloat16_t(int value) : bfloat16_t(static_cast<float>(value)) {}
  explicit operator float() const { return emulation::float_of(static_cast<uint32_t>(bits) << 16); }
};
