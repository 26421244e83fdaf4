// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What the kernels of this family share: a token's angles, and the turn.
//
// A head's turned features are cut into *units*: N features of the first half of them and the N that lie half of them further. So a
// unit has both features of each of its pairs, whichever the style is.

#pragma once

#include <opweave/launch.cuh>
#include <opweave/memory.cuh>
#include <opweave/rotary_params.cuh>

namespace opweave {

// Position in the operations' lists of faults.
inline constexpr uint32_t POSITION_OUTSIDE = 0;

// N consecutive values of the cache, at an address that is aligned to all of them.
template <class C, int N>
__device__ __forceinline__ void load_values(const C* p, float (&v)[N]) {
  if constexpr (N == VECTOR_OF<C>) {
    Pack<C, N>::shared(p).unpack(v);
  } else if constexpr (!NARROW<C> && N % 4 == 0) {
    load_f32<N>(p, v);
  } else if constexpr (NARROW<C> && N == 4) {
    const uint2 w = ptx::load_8(reinterpret_cast<const uint2*>(p));
    unpack_pair<C>(w.x, v[0], v[1]);
    unpack_pair<C>(w.y, v[2], v[3]);
  } else {
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = to_f32(load_element(p + i));
  }
}

// Cosines and sines of the pairs of one unit: of neox N, each of one feature in either pack; of interleaved pairs N / 2 for the
// first pack and N / 2 for the second. Without vectors a unit is one pair.
template <class T, int N>
struct Angles {
  float cosine[N];
  float sine[N];

  template <class C>
  __device__ __forceinline__ void load_from(const C* row, unsigned unit, unsigned pairs, bool interleaved) {
    if (N > 1 && interleaved) {
      constexpr int HALF = N / 2 > 0 ? N / 2 : 1;
      float part[HALF];
#pragma unroll
      for (int which = 0; which < 2; which++) {
        const unsigned first = (unit * N + which * pairs) / 2;
        load_values<C, HALF>(row + first, part);
#pragma unroll
        for (int i = 0; i < HALF; i++) cosine[which * HALF % N + i] = part[i];
        load_values<C, HALF>(row + pairs + first, part);
#pragma unroll
        for (int i = 0; i < HALF; i++) sine[which * HALF % N + i] = part[i];
      }
    } else {
      load_values<C, N>(row + unit * N, cosine);
      load_values<C, N>(row + pairs + unit * N, sine);
    }
  }

  __device__ __forceinline__ void load(const RotaryParams& p, int64_t position, unsigned unit) {
    const unsigned pairs = p.rotary_dim / 2;
    const bool interleaved = p.flags & INTERLEAVED;
    if (p.flags & CACHE_F32) {
      load_from(static_cast<const float*>(p.cache) + position * p.cache_stride, unit, pairs, interleaved);
    } else {
      load_from(static_cast<const T*>(p.cache) + position * p.cache_stride, unit, pairs, interleaved);
    }
    if (NARROW<T> && (p.flags & ROUND_PRODUCTS)) round_values<T>(cosine), round_values<T>(sine);
  }
};

// Turns one pair. Products are rounded to f32, so that what overflows in one overflows in the other on every device, and then
// to T where the mode says so.
template <class T>
__device__ __forceinline__ void turn_pair(float& a, float& b, float cosine, float sine, bool rounded) {
  float v[4] = {__fmul_rn(a, cosine), __fmul_rn(b, sine), __fmul_rn(b, cosine), __fmul_rn(a, sine)};
  if (NARROW<T> && rounded) {
    if constexpr (NARROW<T>) {
      unpack_pair<T>(pack_pair<T>(v[0], v[1]), v[0], v[1]);
      unpack_pair<T>(pack_pair<T>(v[2], v[3]), v[2], v[3]);
    }
  }
  a = v[0] - v[1];
  b = v[2] + v[3];
}

// Turns one unit.
template <class T, int N>
__device__ __forceinline__ void turn(const RotaryParams& p, const Angles<T, N>& angles, float (&low)[N], float (&high)[N]) {
  const bool rounded = p.flags & ROUND_PRODUCTS;
  if (N > 1 && (p.flags & INTERLEAVED)) {
#pragma unroll
    for (int i = 0; i + 1 < N; i += 2) {
      turn_pair<T>(low[i], low[i + 1], angles.cosine[i / 2], angles.sine[i / 2], rounded);
      turn_pair<T>(high[i], high[i + 1], angles.cosine[N / 2 + i / 2], angles.sine[N / 2 + i / 2], rounded);
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; i++) turn_pair<T>(low[i], high[i], angles.cosine[i], angles.sine[i], rounded);
  }
}

// Offsets in a head of the two packs of a unit.
template <int N>
__device__ __forceinline__ void offsets(const RotaryParams& p, unsigned unit, unsigned& low, unsigned& high) {
  if (N == 1 && (p.flags & INTERLEAVED)) {
    low = 2 * unit;
    high = 2 * unit + 1;
  } else {
    low = unit * N;
    high = p.rotary_dim / 2 + unit * N;
  }
}

// A head of a token: queries first, then keys.
template <class T>
__device__ __forceinline__ T* head_of(const RotaryParams& p, int64_t token, unsigned head) {
  if (head < p.q_heads) return static_cast<T*>(p.q) + (token * p.q_token_stride + head * p.q_head_stride);
  return static_cast<T*>(p.k) + (token * p.k_token_stride + (head - p.q_heads) * p.k_head_stride);
}

// The tokens of a block, and which of the parts of each.
struct Tokens {
  int64_t token;
  int64_t step;
  int64_t end;
  unsigned part;

  explicit __device__ __forceinline__ Tokens(const RotaryParams& p) : end(p.tokens) {
    const unsigned first = p.parts == 1 ? blockIdx.x : blockIdx.x / p.parts;
    token = first;
    step = p.parts == 1 ? gridDim.x : gridDim.x / p.parts;
    part = blockIdx.x - first * p.parts;
  }
  __device__ __forceinline__ bool more() const { return token < end; }
  __device__ __forceinline__ void advance() { token += step; }
};

// The position of a token as it lies in memory: read early, and looked at when what else can be read is on its way.
struct Position {
  uint2 words;

  __device__ __forceinline__ Position(const RotaryParams& p, int64_t token) : words{0, 0} {
    if (p.flags & POSITIONS_I32) {
      words.x = ptx::load_4(static_cast<const uint32_t*>(p.positions) + token);
    } else {
      words = ptx::load_8(static_cast<const uint2*>(p.positions) + token);
    }
  }
  __device__ __forceinline__ int64_t value(const RotaryParams& p) const {
    if (p.flags & POSITIONS_I32) return static_cast<int32_t>(words.x);
    return static_cast<int64_t>(uint64_t{words.y} << 32 | words.x);
  }
  // Whether the cache has it; a fault, once for a token, if not.
  __device__ __forceinline__ bool inside(const RotaryParams& p, const Tokens& tokens) const {
    if (static_cast<uint64_t>(value(p)) < static_cast<uint64_t>(p.max_position)) return true;
    if (tokens.part == 0 && threadIdx.x == 0 && threadIdx.y == 0) {
      raise_fault(p.faults, p.operation, POSITION_OUTSIDE, static_cast<uint64_t>(tokens.token));
    }
    return false;
  }
};

}  // namespace opweave
