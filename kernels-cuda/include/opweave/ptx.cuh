// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Every instruction that is written as PTX, a function each, and nothing else: all other headers are C++.
//
// `tests/emulation/opweave/ptx.cuh` is this file for a processor without a GPU.
//
// Accesses to memory are volatile, so that none moves above the wait for the launch before, and loads are issued in the order
// in which they are written. None is through the read-only path: an output may be its own input.

#pragma once

#include <cstdint>

namespace opweave::ptx {

// 16 bytes, read once: kept out of L1, which then has room for the weight. All of them are used at once, so nothing is lost.
__device__ __forceinline__ uint4 load_16_once(const uint4* p) {
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}

__device__ __forceinline__ uint4 load_16(const uint4* p) {
  uint4 v;
  asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
__device__ __forceinline__ uint2 load_8(const uint2* p) {
  uint2 v;
  asm volatile("ld.global.v2.b32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p));
  return v;
}
__device__ __forceinline__ uint32_t load_4(const uint32_t* p) {
  uint32_t v;
  asm volatile("ld.global.b32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
__device__ __forceinline__ uint16_t load_2(const uint16_t* p) {
  uint16_t v;
  asm volatile("ld.global.b16 %0, [%1];" : "=h"(v) : "l"(p));
  return v;
}
__device__ __forceinline__ uint8_t load_1(const uint8_t* p) {
  uint16_t v;
  asm volatile("ld.global.b8 %0, [%1];" : "=h"(v) : "l"(p));
  return static_cast<uint8_t>(v);
}

__device__ __forceinline__ void store_16(uint4* p, uint4 v) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
// First to leave L2 again.
__device__ __forceinline__ void store_16_streaming(uint4* p, uint4 v) {
  asm volatile("st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
__device__ __forceinline__ void store_8(uint2* p, uint2 v) {
  asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(p), "r"(v.x), "r"(v.y) : "memory");
}
__device__ __forceinline__ void store_8_streaming(uint2* p, uint2 v) {
  asm volatile("st.global.cs.v2.b32 [%0], {%1, %2};" ::"l"(p), "r"(v.x), "r"(v.y) : "memory");
}
__device__ __forceinline__ void store_4_streaming(uint32_t* p, uint32_t v) {
  asm volatile("st.global.cs.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ void store_4(uint32_t* p, uint32_t v) {
  asm volatile("st.global.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ void store_2(uint16_t* p, uint16_t v) {
  asm volatile("st.global.b16 [%0], %1;" ::"l"(p), "h"(v) : "memory");
}
__device__ __forceinline__ void store_1(uint8_t* p, uint8_t v) {
  asm volatile("st.global.b8 [%0], %1;" ::"l"(p), "h"(static_cast<uint16_t>(v)) : "memory");
}

// Conversions: exact to f32, to nearest with ties to even from it, out of range to infinity.
__device__ __forceinline__ float f32_of_f16(uint16_t bits) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(bits));
  return r;
}
__device__ __forceinline__ uint16_t f16_of(float v) {
  uint16_t r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(v));
  return r;
}
__device__ __forceinline__ uint16_t bf16_of(float v) {
  uint16_t r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(v));
  return r;
}
// Two at once, the first in the low half.
__device__ __forceinline__ uint32_t f16_pair_of(float first, float second) {
  uint32_t r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(second), "f"(first));
  return r;
}
__device__ __forceinline__ uint32_t bf16_pair_of(float first, float second) {
  uint32_t r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(second), "f"(first));
  return r;
}

// The larger of each two of a pair; a number where only one is NaN, a NaN where both are.
template <bool BF16>
__device__ __forceinline__ uint32_t most_of_pairs(uint32_t a, uint32_t b) {
  uint32_t r;
  if constexpr (BF16) {
    asm("max.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  } else {
    asm("max.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  }
  return r;
}

// The same, NaN where either is.
template <bool BF16>
__device__ __forceinline__ uint32_t most_of_pairs_or_nan(uint32_t a, uint32_t b) {
  uint32_t r;
  if constexpr (BF16) {
    asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  } else {
    asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  }
  return r;
}

// The largest and the least number of a warp's lanes, in all of them.
__device__ __forceinline__ uint32_t most_in_warp(uint32_t v) {
  uint32_t r;
  asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v));
  return r;
}
__device__ __forceinline__ uint32_t least_in_warp(uint32_t v) {
  uint32_t r;
  asm volatile("redux.sync.min.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v));
  return r;
}

// Two f32 to 8-bit floats, the first in the low half: to nearest, ties to even, and to the largest number beyond it, infinities
// too. NaN becomes 0x7f without a sign, of either format. From sm_89 on; elsewhere nothing calls them.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
inline constexpr bool CONVERTS_TO_F8 = true;
#else
inline constexpr bool CONVERTS_TO_F8 = false;
#endif
__device__ __forceinline__ uint16_t f8e4m3_pair_of(float first, float second) {
  uint16_t r = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(second), "f"(first));
#endif
  return r;
}
__device__ __forceinline__ uint16_t f8e5m2_pair_of(float first, float second) {
  uint16_t r = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(second), "f"(first));
#endif
  return r;
}
// To i8, in the low byte: to nearest, ties to even, saturating. NaN becomes 0.
__device__ __forceinline__ uint32_t i8_of(float v) {
  int32_t r;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(r) : "f"(v));
  return static_cast<uint32_t>(r);
}

// The larger and the smaller number; NaN if either is.
__device__ __forceinline__ float larger(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
__device__ __forceinline__ float smaller(float a, float b) {
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
// The same of two 16-bit floats in a word, which are not negative.
__device__ __forceinline__ uint32_t larger_f16_pair(uint32_t a, uint32_t b) {
  uint32_t r;
  asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ uint32_t larger_bf16_pair(uint32_t a, uint32_t b) {
  uint32_t r;
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

// Approximations of the special function unit, to an ulp or two; numbers below the normal range count as zero.
__device__ __forceinline__ float reciprocal_root(float v) {
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}
__device__ __forceinline__ float reciprocal(float v) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}
// 2^v, with numbers below the normal range or without.
__device__ __forceinline__ float exp2(float v) {
  float r;
  asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}
__device__ __forceinline__ float exp2_normal(float v) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

// Makes the compiler have a value here, before the wait for the launch before, rather than where it is first used.
template <class T>
__device__ __forceinline__ void have(T*& p) { asm volatile("" : "+l"(p)); }
__device__ __forceinline__ void have(int64_t& v) { asm volatile("" : "+l"(v)); }
__device__ __forceinline__ void have(uint32_t& v) { asm volatile("" : "+r"(v)); }

// A place in the block's shared memory, looked up once.
struct Shared {
  uint32_t address;
};
__device__ __forceinline__ Shared shared(const void* p) {
  Shared r{static_cast<uint32_t>(__cvta_generic_to_shared(p))};
  asm volatile("" : "+r"(r.address));
  return r;
}
__device__ __forceinline__ void store_shared(Shared to, uint32_t offset, float v) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(to.address + offset), "f"(v) : "memory");
}
__device__ __forceinline__ void load_shared_16(Shared from, uint32_t offset, float (&v)[4]) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
               : "r"(from.address + offset)
               : "memory");
}

// Makes the compiler forget what it derived from these words.
__device__ __forceinline__ void forget(uint4& v) { asm volatile("" : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w)); }

// Clusters of blocks, from sm_90 on; elsewhere a block is alone, and the host launches no clusters.
__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t r = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
#endif
  return r;
}
__device__ __forceinline__ uint32_t cluster_size() {
  uint32_t r = 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(r));
#endif
  return r;
}
// The barrier of a cluster, in two halves that every thread executes in turn: what was written to shared memory before the first
// is seen after the second.
__device__ __forceinline__ void cluster_arrive() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}
// 8 bytes into the shared memory of block `rank` of the cluster, where `p` is in this block's own.
__device__ __forceinline__ void store_8_in_block(uint2* p, uint32_t rank, uint2 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  const auto own = static_cast<uint32_t>(__cvta_generic_to_shared(p));
  asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; st.shared::cluster.v2.b32 [there], {%2, %3}; }"
               ::"r"(own), "r"(rank), "r"(v.x), "r"(v.y)
               : "memory");
#else
  *p = v;
#endif
}

// Dependent launch, from sm_90 on; elsewhere nothing.
__device__ __forceinline__ void launch_dependents() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ __forceinline__ void wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace opweave::ptx
