// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Element types, and rounding to them.
//
// Arithmetic is f32 (f64 where a row needs it); a narrow type exists in memory and at the roundings that a numerical mode
// names. All roundings are to nearest, ties to even; beyond a type's range is an infinity, as the contracts say.

#pragma once

#include <opweave/ptx.cuh>

namespace opweave {

using f32 = float;

// 16-bit types are bit patterns here: CUDA's own headers cost more compile time than all kernels of a file.
struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};

template <class T>
inline constexpr bool NARROW = sizeof(T) < 4;

// One element to f32. Exact.
__device__ __forceinline__ float to_f32(float v) { return v; }
__device__ __forceinline__ float to_f32(bf16 v) { return __uint_as_float(uint32_t{v.bits} << 16); }
__device__ __forceinline__ float to_f32(f16 v) { return ptx::f32_of_f16(v.bits); }

// One f32 to an element.
__device__ __forceinline__ void round_to(float& r, float v) { r = v; }
__device__ __forceinline__ void round_to(bf16& r, float v) { r.bits = ptx::bf16_of(v); }
__device__ __forceinline__ void round_to(f16& r, float v) { r.bits = ptx::f16_of(v); }

// Two elements in a 32-bit word, the first in the low half.
template <class T>
__device__ __forceinline__ uint32_t pack_pair(float first, float second) {
  static_assert(sizeof(T) == 2, "pairs are of 16-bit types");
  return __is_same(T, bf16) ? ptx::bf16_pair_of(first, second) : ptx::f16_pair_of(first, second);
}
template <class T>
__device__ __forceinline__ void unpack_pair(uint32_t pair, float& first, float& second) {
  first = to_f32(T{static_cast<uint16_t>(pair)});
  second = to_f32(T{static_cast<uint16_t>(pair >> 16)});
}

// One f64 to an element with a single rounding. By way of the nearest f32 a value just beside a tie would come out wrong; by
// way of the f32 towards zero whose last bit records that something was cut off ("round to odd") it does not, because f32
// has more than two bits beyond either 16-bit type.
template <class T>
__device__ __forceinline__ T round_f64(double v) {
  T r;
  if constexpr (NARROW<T>) {
    float odd = __double2float_rz(v);
    if (static_cast<double>(odd) != v) odd = __uint_as_float(__float_as_uint(odd) | 1u);
    round_to(r, odd);
  } else {
    r = __double2float_rn(v);
  }
  return r;
}

}  // namespace opweave
