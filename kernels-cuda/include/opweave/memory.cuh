// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Packs of elements in memory, and what the caches are told of them.

#pragma once

#include "round.cuh"

namespace opweave {

// One element, anywhere.
__device__ __forceinline__ float load_element(const float* p) { return __uint_as_float(ptx::load_4(reinterpret_cast<const uint32_t*>(p))); }
__device__ __forceinline__ f16 load_element(const f16* p) { return f16{ptx::load_2(&p->bits)}; }
__device__ __forceinline__ bf16 load_element(const bf16* p) { return bf16{ptx::load_2(&p->bits)}; }
__device__ __forceinline__ void store_element(float* p, float v) { ptx::store_4(reinterpret_cast<uint32_t*>(p), __float_as_uint(v)); }
__device__ __forceinline__ void store_element(f16* p, f16 v) { ptx::store_2(&p->bits, v.bits); }
__device__ __forceinline__ void store_element(bf16* p, bf16 v) { ptx::store_2(&p->bits, v.bits); }

// Elements of T in the widest access, 16 bytes.
template <class T>
inline constexpr int VECTOR_OF = 16 / static_cast<int>(sizeof(T));

// N elements as they lie in memory: a vector of 16 bytes, aligned to that, or one element.
template <class T, int N>
struct Pack;

template <class T>
struct Pack<T, 1> {
  T value;

  static __device__ __forceinline__ Pack zero() { return Pack{T{}}; }
  static __device__ __forceinline__ Pack once(const T* p) { return Pack{load_element(p)}; }
  static __device__ __forceinline__ Pack shared(const T* p) { return Pack{load_element(p)}; }
  __device__ __forceinline__ void unpack(float (&v)[1]) const { v[0] = to_f32(value); }
  static __device__ __forceinline__ Pack of(const float (&v)[1]) {
    Pack r;
    round_to(r.value, v[0]);
    return r;
  }
  __device__ __forceinline__ void store_to(T* p, bool) const { store_element(p, value); }
};

template <class T>
struct Pack<T, VECTOR_OF<T>> {
  static constexpr int N = VECTOR_OF<T>;
  uint4 words;

  static __device__ __forceinline__ Pack zero() { return Pack{uint4{0, 0, 0, 0}}; }
  // `once`: by one thread alone. `shared`: by many blocks, as weights are. `stream`: not to stay in L2.
  static __device__ __forceinline__ Pack once(const T* p) { return Pack{ptx::load_16_once(reinterpret_cast<const uint4*>(p))}; }
  static __device__ __forceinline__ Pack shared(const T* p) { return Pack{ptx::load_16(reinterpret_cast<const uint4*>(p))}; }
  __device__ __forceinline__ void unpack(float (&v)[N]) const {
    const uint32_t w[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if constexpr (NARROW<T>) {
        unpack_pair<T>(w[i], v[2 * i], v[2 * i + 1]);
      } else {
        v[i] = __uint_as_float(w[i]);
      }
    }
  }
  static __device__ __forceinline__ Pack of(const float (&v)[N]) {
    uint32_t w[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if constexpr (NARROW<T>) {
        w[i] = pack_pair<T>(v[2 * i], v[2 * i + 1]);
      } else {
        w[i] = __float_as_uint(v[i]);
      }
    }
    return Pack{uint4{w[0], w[1], w[2], w[3]}};
  }
  __device__ __forceinline__ void store_to(T* p, bool stream) const {
    auto* to = reinterpret_cast<uint4*>(p);
    stream ? ptx::store_16_streaming(to, words) : ptx::store_16(to, words);
  }
  // Makes the compiler forget what it unpacked: twice the registers, over a barrier, to save a shift.
  __device__ __forceinline__ void forget_values() { ptx::forget(words); }
};

// Rounds values to T, in place.
template <class T, int N>
__device__ __forceinline__ void round_values(float (&v)[N]) {
  if constexpr (NARROW<T>) Pack<T, N>::of(v).unpack(v);
}

// N values of an f32 parameter beside elements of T: one, or as many as T's vector holds.
template <int N>
__device__ __forceinline__ void load_f32(const float* p, float (&v)[N]) {
  if constexpr (N == 1) {
    v[0] = load_element(p);
  } else {
#pragma unroll
    for (int i = 0; i < N; i += 4) {
      const uint4 w = ptx::load_16(reinterpret_cast<const uint4*>(p + i));
      v[i] = __uint_as_float(w.x);
      v[i + 1] = __uint_as_float(w.y);
      v[i + 2] = __uint_as_float(w.z);
      v[i + 3] = __uint_as_float(w.w);
    }
  }
}

}  // namespace opweave
