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
inline uint32_t load_4(const uint32_t* p) { return *aligned(p); }
inline uint16_t load_2(const uint16_t* p) { return *aligned(p); }
inline void store_16(uint4* p, uint4 v) { *aligned(p) = v; }
inline void store_16_streaming(uint4* p, uint4 v) { *aligned(p) = v; }
inline void store_4(uint32_t* p, uint32_t v) { *aligned(p) = v; }
inline void store_2(uint16_t* p, uint16_t v) { *aligned(p) = v; }

inline float f32_of_f16(uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
inline uint16_t f16_of(float v) { return std::bit_cast<uint16_t>(static_cast<_Float16>(v)); }
inline uint16_t bf16_of(float v) {
  const uint32_t bits = __float_as_uint(v);
  return std::isnan(v) ? 0x7fff : static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline uint32_t f16_pair_of(float first, float second) { return f16_of(first) | uint32_t{f16_of(second)} << 16; }
inline uint32_t bf16_pair_of(float first, float second) { return bf16_of(first) | uint32_t{bf16_of(second)} << 16; }

// Off by an ulp, as the unit is: what follows must mend it.
inline float off(double v) { return static_cast<float>(v * (1.0 + 0x1p-23)); }
inline float reciprocal_root(float v) { return off(1.0 / std::sqrt(static_cast<double>(v))); }
inline float reciprocal(float v) { return off(1.0 / static_cast<double>(v)); }

inline void forget(uint4&) {}
inline void launch_dependents() {}
inline void wait() {}

}  // namespace opweave::ptx
