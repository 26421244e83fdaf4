// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Codes of one byte, i8 and 8-bit floats, to and from f32.
//
// To a code: to nearest, ties to even; what is beyond the largest number on either side becomes it, infinities too. A NaN
// becomes NAN_CODE, which has no sign, and 0 as an i8. A negative zero keeps its sign as an 8-bit float. From a code: exact.
//
// Devices from sm_89 on convert to 8-bit floats by an instruction, the others in integers, with the same bits.

#pragma once

#include "round.cuh"

namespace opweave {

struct f8e4m3 {
  uint8_t bits;
  static constexpr uint8_t NAN_CODE = 0x7f;
};
struct f8e5m2 {
  uint8_t bits;
  static constexpr uint8_t NAN_CODE = 0x7e;  // a quiet one; the instruction gives 0x7f
};
struct i8 {
  uint8_t bits;
};

// The largest number of a code's type, as an f32 and, for 8-bit floats, in the code itself.
template <class C>
inline constexpr float LARGEST_CODE = __is_same(C, f8e4m3) ? 448.0f : __is_same(C, f8e5m2) ? 57344.0f : 127.0f;

// An f32 to an 8-bit float of MANTISSA bits of mantissa, in integers.
template <class C, int MANTISSA>
__device__ __forceinline__ uint32_t code_by_integers(float v) {
  constexpr int SHIFT = 23 - MANTISSA;                // bits of an f32's mantissa that have no place
  constexpr int BIAS = (1 << (6 - MANTISSA)) - 1;
  constexpr uint32_t REBIAS = uint32_t{127 - BIAS} << 23;
  constexpr uint32_t SMALLEST_NORMAL = uint32_t{128 - BIAS} << 23;
  // A power of two beside which an f32 is as fine as the subnormals are: to add it is to round to one.
  constexpr uint32_t ROUNDER = uint32_t{127 + 23 + 1 - BIAS - MANTISSA} << 23;
  const uint32_t bits = __float_as_uint(v), magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return C::NAN_CODE;
  const uint32_t most = __float_as_uint(LARGEST_CODE<C>), kept = magnitude < most ? magnitude : most;
  // Half a unit less one, and the unit's own last bit, which makes ties even.
  const uint32_t normal = (kept - REBIAS + ((1u << (SHIFT - 1)) - 1) + (kept >> SHIFT & 1)) >> SHIFT;
  const uint32_t subnormal = __float_as_uint(__uint_as_float(kept) + __uint_as_float(ROUNDER)) - ROUNDER;
  return (kept < SMALLEST_NORMAL ? subnormal : normal) | (bits >> 24 & 0x80);
}

// Two words' halves, four codes in a word, the first in the low byte.
__device__ __forceinline__ uint32_t join_halves(uint16_t low, uint16_t high) { return low | uint32_t{high} << 16; }
__device__ __forceinline__ uint32_t join_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return (a & 0xff) | (b & 0xff) << 8 | (c & 0xff) << 16 | d << 24;
}

// Four f32 to four codes, the first in the low byte. BY_INSTRUCTION is for tests of the other way.
template <class C, bool BY_INSTRUCTION = ptx::CONVERTS_TO_F8>
__device__ __forceinline__ uint32_t codes_of(float a, float b, float c, float d) {
  if constexpr (__is_same(C, i8)) {
    return join_bytes(ptx::i8_of(a), ptx::i8_of(b), ptx::i8_of(c), ptx::i8_of(d));
  } else if constexpr (!BY_INSTRUCTION) {
    constexpr int MANTISSA = __is_same(C, f8e4m3) ? 3 : 2;
    return join_bytes(code_by_integers<C, MANTISSA>(a), code_by_integers<C, MANTISSA>(b), code_by_integers<C, MANTISSA>(c),
                      code_by_integers<C, MANTISSA>(d));
  } else if constexpr (__is_same(C, f8e4m3)) {
    return join_halves(ptx::f8e4m3_pair_of(a, b), ptx::f8e4m3_pair_of(c, d));
  } else {
    const uint32_t codes = join_halves(ptx::f8e5m2_pair_of(a, b), ptx::f8e5m2_pair_of(c, d));
    // 0x7f to 0x7e. Finite codes end at 0x7b: with 4 added, NaN alone reaches the sign's place.
    return codes - (((codes & 0x7f7f7f7fu) + 0x04040404u) >> 7 & 0x01010101u);
  }
}

// One f32 to a code.
template <class C>
__device__ __forceinline__ C code_of(float v) {
  return C{static_cast<uint8_t>(codes_of<C>(v, v, v, v))};
}

// One code to f32.
__device__ __forceinline__ float to_f32(i8 v) { return static_cast<float>(static_cast<int8_t>(v.bits)); }
// It is the upper half of an f16.
__device__ __forceinline__ float to_f32(f8e5m2 v) { return ptx::f32_of_f16(static_cast<uint16_t>(v.bits << 8)); }
// One place lower it is an f16 of 2^-8 its value, subnormals too; but NaN would be the number after 448.
__device__ __forceinline__ float to_f32(f8e4m3 v) {
  const uint32_t magnitude = v.bits & 0x7f, sign = v.bits & 0x80;
  if (magnitude == f8e4m3::NAN_CODE) return __uint_as_float(0x7fc00000u);
  return ptx::f32_of_f16(static_cast<uint16_t>(magnitude << 7 | sign << 8)) * 256.0f;
}

}  // namespace opweave
