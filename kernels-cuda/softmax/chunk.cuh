// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// The sum of exponentials of a row, out of its chunks.
//
// A chunk is DEPTH * 32 consecutive packs, pack 32 k + l of it in lane l of a warp, whichever warp that is. It comes down to two
// numbers: its largest logit, and the sum of e^(x - largest) over all its elements but one of the largest, whose e^0 would drown
// what the others add up to. From these the row's are made in an order that the number of chunks decides. So the bits of a row
// depend on its width alone, and who does which chunk may be chosen by the number of rows.
//
// NaN: comparisons pass it over, its exponential is NaN and makes the sum NaN, and with it the row. +infinity less itself is NaN
// too. A chunk of nothing but -infinity adds nothing, and a row of nothing else is NaN, as 0 / 0 is.

#pragma once

#include <opweave/exponential.cuh>
#include <opweave/memory.cuh>
#include <opweave/softmax_params.cuh>

namespace opweave {

inline constexpr unsigned LANES = 32;
inline constexpr int DEPTH = 4;
inline constexpr unsigned CHUNK = LANES * DEPTH;  // packs
inline constexpr unsigned EVERY_LANE = 0xffffffffu;
inline constexpr float NOTHING = -__builtin_huge_valf();

struct Chunk {
  float most;  // -infinity where there is no number
  float rest;
};

__device__ __forceinline__ uint2 words_of(Chunk c) { return uint2{__float_as_uint(c.most), __float_as_uint(c.rest)}; }
__device__ __forceinline__ Chunk chunk_of(uint2 w) { return Chunk{__uint_as_float(w.x), __uint_as_float(w.y)}; }

__device__ __forceinline__ float most_over_lanes(float v) {
#pragma unroll
  for (unsigned step = LANES / 2; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(EVERY_LANE, v, step));
  return v;
}
__device__ __forceinline__ float sum_over_lanes(float v) {
#pragma unroll
  for (unsigned step = LANES / 2; step > 0; step /= 2) v += __shfl_xor_sync(EVERY_LANE, v, step);
  return v;
}

// A pack of -infinity, for what a row does not have.
template <class T, int N>
__device__ __forceinline__ Pack<T, N> absent() {
  float v[N];
#pragma unroll
  for (int e = 0; e < N; e++) v[e] = NOTHING;
  return Pack<T, N>::of(v);
}

// The largest of HELD packs.
template <class T, int N, int HELD>
__device__ __forceinline__ float most_of(const Pack<T, N>* packs) {
  float most = NOTHING;
  if constexpr (NARROW<T> && N > 1) {
    // Two at a time, and not by way of f32.
    uint32_t pair = ptx::most_of_pairs<__is_same(T, bf16)>(packs[0].words.x, packs[0].words.y);
#pragma unroll
    for (int k = 0; k < HELD; k++) {
      if (k > 0) pair = ptx::most_of_pairs<__is_same(T, bf16)>(pair, ptx::most_of_pairs<__is_same(T, bf16)>(packs[k].words.x, packs[k].words.y));
      pair = ptx::most_of_pairs<__is_same(T, bf16)>(pair, ptx::most_of_pairs<__is_same(T, bf16)>(packs[k].words.z, packs[k].words.w));
    }
    float first, second;
    unpack_pair<T>(pair, first, second);
    most = fmaxf(fmaxf(most, first), second);
  } else {
#pragma unroll
    for (int k = 0; k < HELD; k++) {
      float v[N];
      packs[k].unpack(v);
#pragma unroll
      for (int e = 0; e < N; e++) most = fmaxf(most, v[e]);
    }
  }
  return most;
}

// Whether this lane is the first of those for which the condition holds.
__device__ __forceinline__ bool is_first(bool condition, unsigned lane) {
  return static_cast<unsigned>(__ffs(__ballot_sync(EVERY_LANE, condition))) == lane + 1;
}

// Where a lane has `tops` of the largest, one of all lanes' is left out.
__device__ __forceinline__ float but_one(unsigned tops, unsigned lane) {
  return static_cast<float>(tops - (is_first(tops > 0, lane) ? 1u : 0u));
}

// One chunk, of which this lane has HELD packs; those of DEPTH beyond would add nothing. APART: the largest are counted, not added,
// and what is below the normal range is added too, for a logarithm that may have nothing else.
template <class T, int N, int HELD, bool APART>
__device__ __forceinline__ Chunk reduce(const Pack<T, N>* packs, float first, float scale, unsigned lane) {
  const float own = most_of<T, N, HELD>(packs), most = most_over_lanes(own);
  // -infinity less itself is no number. No element is 0 then, so none counts as the largest.
  const float base = most == NOTHING ? 0.0f : most;
  float rest = 0;
  unsigned tops = 0;
#pragma unroll
  for (int k = 0; k < HELD; k++) {
    float v[N];
    packs[k].unpack(v);
#pragma unroll
    for (int e = 0; e < N; e++) {
      const float exponent = (v[e] - base) * first * scale;
      if constexpr (APART) {
        const bool top = v[e] == base;
        tops += top ? 1u : 0u;
        rest += top ? 0.0f : ptx::exp2(exponent);
      } else {
        rest += ptx::exp2_normal(exponent);
      }
    }
  }
  if constexpr (APART) {
    rest += but_one(tops, lane);
  } else {
    rest -= is_first(own == base, lane) ? 1.0f : 0.0f;
  }
  // An infinity was not subtracted from itself where it counts as the largest.
  return Chunk{most, sum_over_lanes(rest) + (base - base)};
}

// The row out of its `chunks`, in every lane of every warp that asks.
template <class CHUNKS>
__device__ __forceinline__ Chunk combine(const CHUNKS& chunks, unsigned count, float first, float scale, unsigned lane) {
  float most = NOTHING;
#pragma unroll 4
  for (unsigned c = lane; c < count; c += LANES) most = fmaxf(most, chunk_of(chunks[c]).most);
  most = most_over_lanes(most);
  float rest = 0;
  unsigned tops = 0;
#pragma unroll 4
  for (unsigned c = lane; c < count; c += LANES) {
    const Chunk chunk = chunk_of(chunks[c]);
    const bool top = chunk.most == most;
    const float times = top ? 1.0f : ptx::exp2((chunk.most - most) * first * scale);
    tops += top ? 1u : 0u;
    rest += fmaf(chunk.rest, times, top ? 0.0f : times);
  }
  return Chunk{most, sum_over_lanes(rest + but_one(tops, lane))};
}

// What a row's elements become.
struct Result {
  float most, first, factor, of_sum;

  __device__ __forceinline__ Result(const SoftmaxParams& p, Chunk row, float first)
      : most(row.most), first(first), factor(p.flags & LOGARITHM ? p.inverse : p.scale) {
    of_sum = p.flags & LOGARITHM ? log1pf(row.rest) : 1.0f / (1.0f + row.rest);
  }
  template <int N>
  __device__ __forceinline__ void of(bool logarithm, float (&v)[N]) const {
#pragma unroll
    for (int e = 0; e < N; e++) {
      // Fused in every entry, or their bits would differ.
      const float shifted = (v[e] - most) * first;
      v[e] = logarithm ? fmaf(shifted, factor, -of_sum) : ptx::exp2(shifted * factor) * of_sum;
    }
  }
};

// Writes a pack as T, or as f32 in N / 4 vectors or one element.
template <class T, int N>
__device__ __forceinline__ void write(void* row, int64_t at, const float (&v)[N], uint32_t flags) {
  const bool stream = flags & SOFTMAX_STREAM;
  if (NARROW<T> && (flags & OUT_F32)) {
    float* const out = static_cast<float*>(row) + at;
    if constexpr (N == 1) {
      store_element(out, v[0]);
    } else {
#pragma unroll
      for (int i = 0; i < N; i += 4) {
        const float part[4] = {v[i], v[i + 1], v[i + 2], v[i + 3]};
        Pack<float, 4>::of(part).store_to(out + i, stream);
      }
    }
  } else {
    Pack<T, N>::of(v).store_to(static_cast<T*>(row) + at, stream);
  }
}

}  // namespace opweave
