// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// `include/opweave/ptx.cuh` for a processor without a GPU.

#pragma once

#include "../cuda.h"

namespace opweave::ptx {

template <class T>
T* aligned(T* p) {
  if (reinterpret_cast<uintptr_t>(p) % sizeof(T) != 0) emulation::fail("an access that is not aligned");
  return p;
}
inline uint4 load_16_once(const uint4* p) { return *aligned(p); }
inline uint4 load_16(const uint4* p) { return *aligned(p); }
inline uint2 load_8(const uint2* p) { return *aligned(p); }
inline uint32_t load_4(const uint32_t* p) { return *aligned(p); }
inline uint16_t load_2(const uint16_t* p) { return *aligned(p); }
inline uint8_t load_1(const uint8_t* p) { return *p; }
inline void store_16(uint4* p, uint4 v) { *aligned(p) = v; }
inline void store_16_streaming(uint4* p, uint4 v) { *aligned(p) = v; }
inline void store_4(uint32_t* p, uint32_t v) { *aligned(p) = v; }
inline void store_2(uint16_t* p, uint16_t v) { *aligned(p) = v; }
inline void store_8(uint2* p, uint2 v) { *aligned(p) = v; }
inline void store_8_streaming(uint2* p, uint2 v) { *aligned(p) = v; }
inline void store_4_streaming(uint32_t* p, uint32_t v) { *aligned(p) = v; }
inline void store_1(uint8_t* p, uint8_t v) { *p = v; }

inline float f32_of_f16(uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
inline uint16_t f16_of(float v) { return std::bit_cast<uint16_t>(static_cast<_Float16>(v)); }
inline uint16_t bf16_of(float v) {
  const uint32_t bits = __float_as_uint(v);
  return std::isnan(v) ? 0x7fff : static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline uint32_t f16_pair_of(float first, float second) { return f16_of(first) | uint32_t{f16_of(second)} << 16; }
inline uint32_t bf16_pair_of(float first, float second) { return bf16_of(first) | uint32_t{bf16_of(second)} << 16; }

template <bool BF16>
uint32_t most_of_pairs(uint32_t a, uint32_t b) {
  const auto most = [](uint16_t a, uint16_t b) -> uint16_t {
    const auto value = [](uint16_t v) { return BF16 ? __uint_as_float(uint32_t{v} << 16) : f32_of_f16(v); };
    if (std::isnan(value(a))) return std::isnan(value(b)) ? 0x7fff : b;
    if (std::isnan(value(b))) return a;
    return value(a) > value(b) || (value(a) == value(b) && !std::signbit(value(a))) ? a : b;
  };
  return most(static_cast<uint16_t>(a), static_cast<uint16_t>(b)) |
         uint32_t{most(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16))} << 16;
}

template <bool BF16>
uint32_t most_of_pairs_or_nan(uint32_t a, uint32_t b) {
  const auto is_nan = [](uint32_t v) { return BF16 ? (v & 0x7fff) > 0x7f80 : (v & 0x7fff) > 0x7c00; };
  const uint32_t most = most_of_pairs<BF16>(a, b);
  const auto half = [&](unsigned shift) {
    return (is_nan(a >> shift) || is_nan(b >> shift) ? 0x7fffu : most >> shift & 0xffff) << shift;
  };
  return half(0) | half(16);
}
inline uint32_t most_in_warp(uint32_t v) {
  for (unsigned step = 16; step > 0; step /= 2) v = std::max(v, emulation::exchange(v, emulation::fiber().number % 32 ^ step));
  return v;
}
inline uint32_t least_in_warp(uint32_t v) { return ~most_in_warp(~v); }

// As sm_80 does it; what the instructions of later ones give is here all the same, by a search among all numbers of the format.
inline constexpr bool CONVERTS_TO_F8 = false;
template <int MANTISSA, int LARGEST>
uint8_t f8_of(float v) {
  if (std::isnan(v)) return 0x7f;
  const int bias = (1 << (6 - MANTISSA)) - 1;
  const auto number = [&](int code) {
    const int exponent = code >> MANTISSA, mantissa = code & ((1 << MANTISSA) - 1);
    return exponent == 0 ? std::ldexp(mantissa, 1 - bias - MANTISSA)
                         : std::ldexp((1 << MANTISSA) + mantissa, exponent - bias - MANTISSA);
  };
  const double magnitude = std::fabs(static_cast<double>(v));
  int below = 0, above = LARGEST;  // the nearest codes on either side
  if (magnitude >= number(LARGEST)) below = LARGEST;
  while (above - below > 1) {
    const int middle = (below + above) / 2;
    (number(middle) <= magnitude ? below : above) = middle;
  }
  const double to_below = magnitude - number(below), to_above = number(above) - magnitude;
  const bool up = to_above < to_below || (to_above == to_below && below % 2 == 1);
  return static_cast<uint8_t>((up ? above : below) | (std::signbit(v) ? 0x80 : 0));
}
inline uint16_t f8e4m3_pair_of(float first, float second) {
  return static_cast<uint16_t>(f8_of<3, 0x7e>(first) | f8_of<3, 0x7e>(second) << 8);
}
inline uint16_t f8e5m2_pair_of(float first, float second) {
  return static_cast<uint16_t>(f8_of<2, 0x7b>(first) | f8_of<2, 0x7b>(second) << 8);
}
inline uint32_t i8_of(float v) {
  if (std::isnan(v)) return 0;
  return static_cast<uint32_t>(static_cast<int>(std::nearbyint(v < -128 ? -128.0 : v > 127 ? 127.0 : static_cast<double>(v))));
}
inline float larger(float a, float b) { return std::isnan(a) ? a : std::isnan(b) || b > a ? b : a; }
inline float smaller(float a, float b) { return std::isnan(a) ? a : std::isnan(b) || b < a ? b : a; }
// As numbers that are not negative, their bits have the same order, NaN above all.
inline uint32_t larger_bf16_pair(uint32_t a, uint32_t b) {
  const auto half = [&](int shift) { return std::max(a >> shift & 0xffff, b >> shift & 0xffff) << shift; };
  return half(0) | half(16);
}
inline uint32_t larger_f16_pair(uint32_t a, uint32_t b) { return larger_bf16_pair(a, b); }

// Off by an ulp, as the unit is: what follows must mend it.
inline float off(double v) { return static_cast<float>(v * (1.0 + 0x1p-23)); }
inline float reciprocal_root(float v) { return off(1.0 / std::sqrt(static_cast<double>(v))); }
inline float reciprocal(float v) { return off(1.0 / static_cast<double>(v)); }
inline float exp2(float v) { return off(std::exp2(static_cast<double>(v))); }
inline float exp2_normal(float v) { return v < -126.0f ? 0.0f : exp2(v); }

inline uint32_t cluster_rank() { return emulation::block.rank; }
inline uint32_t cluster_size() { return emulation::cluster.size; }
inline void cluster_arrive() { emulation::arrive_at_cluster(); }
inline void cluster_wait() { emulation::wait_for_cluster(); }
inline void store_8_in_block(uint2* p, uint32_t rank, uint2 v) { *emulation::of_block(aligned(p), rank) = v; }

inline void forget(uint4&) {}
template <class T>
void have(T&) {}
struct Shared {
  char* address;
};
inline Shared shared(void* p) { return {static_cast<char*>(p)}; }
inline void store_shared(Shared to, uint32_t offset, float v) { std::memcpy(to.address + offset, &v, 4); }
inline void load_shared_16(Shared from, uint32_t offset, float (&v)[4]) {
  std::memcpy(v, aligned(reinterpret_cast<uint4*>(from.address + offset)), 16);
}
inline void launch_dependents() {}
inline void wait() {}

}  // namespace opweave::ptx
