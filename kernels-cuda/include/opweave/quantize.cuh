// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// From numbers to a scale, and from numbers and a scale to codes.

#pragma once

#include "code.cuh"
#include "memory.cuh"
#include "quant_params.cuh"

namespace opweave {

inline constexpr uint32_t MAGNITUDE = 0x7fffffffu;
inline constexpr uint32_t INFINITE = 0x7f800000u;

// The larger of two magnitudes, as bits: integers of the same order, in which NaN is above infinity and never lost.
__device__ __forceinline__ uint32_t larger_bits(uint32_t a, uint32_t b) { return a > b ? a : b; }

// The largest magnitude of a pack, and of what was found before.
template <class T, int N>
struct Magnitude {
  uint32_t most = 0;  // of f32 one, else of two at once
  __device__ __forceinline__ void add(const Pack<T, N>& pack) {
    if constexpr (N == 1 && NARROW<T>) {
      add_word(pack.value.bits);
    } else if constexpr (N == 1) {
      add_word(__float_as_uint(pack.value));
    } else {
      add_word(pack.words.x), add_word(pack.words.y), add_word(pack.words.z), add_word(pack.words.w);
    }
  }
  // As bits of an f32.
  __device__ __forceinline__ uint32_t bits() const {
    if constexpr (!NARROW<T>) {
      return most;
    } else {
      float low, high;
      unpack_pair<T>(most, low, high);
      return larger_bits(__float_as_uint(low) & MAGNITUDE, __float_as_uint(high) & MAGNITUDE);
    }
  }

 private:
  __device__ __forceinline__ void add_word(uint32_t word) {
    if constexpr (!NARROW<T>) {
      most = larger_bits(most, word & MAGNITUDE);
    } else if constexpr (__is_same(T, bf16)) {
      most = ptx::larger_bf16_pair(most, word & 0x7fff7fffu);
    } else {
      most = ptx::larger_f16_pair(most, word & 0x7fff7fffu);
    }
  }
};

__device__ __forceinline__ float largest_code(uint32_t flags) {
  return flags & CODES_F8E4M3   ? LARGEST_CODE<f8e4m3>
         : flags & CODES_F8E5M2 ? LARGEST_CODE<f8e5m2>
                                : LARGEST_CODE<i8>;
}

// The exponent of the smallest power of two, from 2^-127 on, that is not below a positive number: as f8e8m0 stores it.
__device__ __forceinline__ uint32_t power_of_two_above(float number) {
  const uint32_t bits = __float_as_uint(number);
  if (bits > INFINITE) return 0xff;
  const uint32_t exponent = bits <= 1u << 22 ? 0 : (bits + 0x7fffffu) >> 23;
  return exponent < 254 ? exponent : 254;
}

// The scale of a row by the bits of its largest magnitude: NaN for an infinity or NaN; without a floor, 1 for a row of zeros.
__device__ __forceinline__ float row_scale(const CodeParams& p, uint32_t largest) {
  if (largest >= INFINITE) return __uint_as_float(0x7fc00000u);
  float scale = __uint_as_float(largest) / largest_code(p.flags);
  if (p.floor > 0) {
    scale = scale < p.floor ? p.floor : scale;
  } else if (largest == 0) {
    scale = 1;
  } else if (scale == 0) {
    scale = __uint_as_float(1);  // or numbers would become infinities, and zeros NaN
  }
  if (p.flags & SCALE_POWER_OF_TWO) {
    const uint32_t exponent = power_of_two_above(scale);
    scale = __uint_as_float(exponent == 0 ? 1u << 22 : exponent << 23);
  }
  return scale;
}

__device__ __forceinline__ void write_scale(const CodeParams& p, int64_t row, float scale) {
  if (p.flags & SCALE_POWER_OF_TWO) {
    ptx::store_1(static_cast<uint8_t*>(p.scale) + row, static_cast<uint8_t>(power_of_two_above(scale)));
  } else {
    store_element(static_cast<float*>(p.scale) + row, scale);
  }
}

// Divisions by one scale, each rounded as a division is wherever the quotient has a code other than zero, which is from 2^-18 on.
//
// With the reciprocal of the divisor in two parts, inverse + rest, a quotient is known to a unit in the last place, and one
// correction by its remainder, which is exact, rounds it (Markstein 1990). Remainders and products stay in the normal range
// if the divisor is not far from 1; where the scale is, both sides are multiplied by a power of two first. |v| must not be beyond
// 2^20 scales: rows under their own scale end at the largest code. A scale of NaN makes everything NaN.
struct Quotients {
  float factor;   // 1, 2^100 or 2^-100
  float divisor;  // scale * factor, from 2^-80 to 2^60
  float inverse;
  float rest;

  explicit __device__ __forceinline__ Quotients(float scale)
      : factor(scale < 0x1p-80f ? 0x1p100f : scale > 0x1p60f ? 0x1p-100f : 1.0f),
        divisor(scale * factor),
        inverse(1.0f / divisor),
        rest(fmaf(-divisor, inverse, 1.0f) * inverse) {}

  // Of what was multiplied by `factor`.
  __device__ __forceinline__ float of(float v) const {
    const float q = fmaf(v, inverse, v * rest);
    const float r = fmaf(fmaf(-q, divisor, v), inverse, q);
    // A negative zero may have met a positive one.
    return __uint_as_float(__float_as_uint(r) | (__float_as_uint(v) & ~MAGNITUDE));
  }
  template <int N>
  __device__ __forceinline__ void prepare(float (&v)[N]) const {
    if (factor == 1.0f) return;
#pragma unroll
    for (int e = 0; e < N; e++) v[e] *= factor;
  }
  template <int N>
  __device__ __forceinline__ void operator()(float (&v)[N]) const {
    prepare(v);
#pragma unroll
    for (int e = 0; e < N; e++) v[e] = of(v[e]);
  }
};

// N codes, in words of four.
template <class C, int N>
__device__ __forceinline__ void write_codes_of(const float (&v)[N], uint8_t* out, bool stream) {
  if constexpr (N == 1) {
    ptx::store_1(out, code_of<C>(v[0]).bits);
  } else if constexpr (N == 4) {
    const uint32_t codes = codes_of<C>(v[0], v[1], v[2], v[3]);
    auto* to = reinterpret_cast<uint32_t*>(out);
    stream ? ptx::store_4_streaming(to, codes) : ptx::store_4(to, codes);
  } else {
    static_assert(N == 8, "the codes of a vector of 16 bytes");
    const uint2 codes{codes_of<C>(v[0], v[1], v[2], v[3]), codes_of<C>(v[4], v[5], v[6], v[7])};
    auto* to = reinterpret_cast<uint2*>(out);
    stream ? ptx::store_8_streaming(to, codes) : ptx::store_8(to, codes);
  }
}

// The codes of N quotients.
template <int N>
__device__ __forceinline__ void write_codes(uint32_t flags, float (&v)[N], uint8_t* out, bool stream) {
  if (flags & CODES_F8E4M3) {
    write_codes_of<f8e4m3>(v, out, stream);
  } else if (flags & CODES_F8E5M2) {
    write_codes_of<f8e5m2>(v, out, stream);
  } else {
    const float lowest = flags & LOWEST_128 ? -128.0f : -127.0f;
#pragma unroll
    for (int e = 0; e < N; e++) v[e] = ptx::larger(v[e], lowest);
    write_codes_of<i8>(v, out, stream);
  }
}

}  // namespace opweave
