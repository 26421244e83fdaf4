// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// argmax: out = the smallest index of the largest element, row by row
//
// A row is shared by the blocks of a cluster; of each the best comes together in the first. Vectors begin where an address is
// a multiple of 16 bytes, so rows of any alignment are read in vectors, with some elements before and behind.
//
// Elements are compared as keys, integers in the order of the numbers. Of a vector only its largest is; which element that was is
// looked up once, at the end. The result does not depend on who reads what, so the number of blocks is free.

#include <opweave/argmax_params.cuh>
#include <opweave/cluster.cuh>
#include <opweave/launch.cuh>
#include <opweave/memory.cuh>

namespace opweave {

inline constexpr unsigned LANES = 32;
inline constexpr unsigned EVERY_LANE = 0xffffffffu;
inline constexpr unsigned MOST_BLOCKS = 16;
// Vectors that a thread has on their way at once: as many as registers hold where two blocks share a multiprocessor.
template <class T>
inline constexpr int IN_FLIGHT = NARROW<T> ? 8 : 6;

// An element and where it is. Nobody's is one that every element is before.
struct Best {
  uint32_t key;
  uint32_t index;
};
inline constexpr uint32_t NOWHERE = 0xffffffffu;

// The order of numbers as that of integers. Both zeros are one number. -infinity is 0x007fffff, so there is room for NaN on
// either side.
template <bool NAN_IS_FIRST>
__device__ __forceinline__ uint32_t key_of(float v) {
  const uint32_t bits = __float_as_uint(v + 0.0f);
  const uint32_t ordered = bits ^ (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) | 0x80000000u);
  return v == v ? ordered : NAN_IS_FIRST ? 0xffffffffu : 0u;
}

// The largest element of a vector, or NaN: if all are, or with NAN_IS_FIRST if any is.
template <class T, bool NAN_IS_FIRST>
__device__ __forceinline__ float most_of(const uint4& w) {
  if constexpr (NARROW<T>) {
    constexpr bool BF16 = __is_same(T, bf16);
    const auto larger = [](uint32_t a, uint32_t b) {
      return NAN_IS_FIRST ? ptx::most_of_pairs_or_nan<BF16>(a, b) : ptx::most_of_pairs<BF16>(a, b);
    };
    float first, second;
    unpack_pair<T>(larger(larger(w.x, w.y), larger(w.z, w.w)), first, second);
    return NAN_IS_FIRST ? ptx::larger(first, second) : fmaxf(first, second);
  } else {
    const float a = __uint_as_float(w.x), b = __uint_as_float(w.y), c = __uint_as_float(w.z), d = __uint_as_float(w.w);
    return NAN_IS_FIRST ? ptx::larger(ptx::larger(a, b), ptx::larger(c, d)) : fmaxf(fmaxf(a, b), fmaxf(c, d));
  }
}

// The best of a warp, in all its lanes.
__device__ __forceinline__ Best best_of_warp(Best mine) {
  const uint32_t key = ptx::most_in_warp(mine.key);
  return Best{key, ptx::least_in_warp(mine.key == key ? mine.index : NOWHERE)};
}

template <class T, bool NAN_IS_FIRST>
__device__ __forceinline__ void argmax_rows(const ArgmaxParams& p, uint2 (&of_warps)[LANES], uint2 (&of_blocks)[2][MOST_BLOCKS]) {
  constexpr unsigned N = VECTOR_OF<T>;
  const Cluster cluster;
  const unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
  const unsigned rank = cluster.rank * blockDim.x + threadIdx.x, threads = cluster.size * blockDim.x;
  unsigned turn = 0;
  bool met = false;
  for (int64_t row = blockIdx.x / cluster.size; row < p.rows; row += gridDim.x / cluster.size) {
    const T* const logits = static_cast<const T*>(p.logits) + row * p.stride;
    const auto beyond = static_cast<unsigned>(reinterpret_cast<uintptr_t>(logits) % 16 / sizeof(T));
    const unsigned before = beyond == 0 ? 0 : N - beyond, head = before < p.width ? before : p.width;
    const unsigned vectors = (p.width - head) / N, tail = head + vectors * N;
    const auto* const body = reinterpret_cast<const uint4*>(logits + head);

    // The elements that are in no vector, of one thread each.
    Best best{0, NOWHERE};
    const unsigned odd = rank < head ? rank : rank - head + tail;
    if (odd < p.width && (rank < head || odd >= tail)) best = Best{key_of<NAN_IS_FIRST>(to_f32(load_element(logits + odd))), odd};

    uint4 held = uint4{0, 0, 0, 0};
    uint32_t most = 0;
    unsigned which = NOWHERE;
    for (unsigned first = rank; first < vectors; first += threads * IN_FLIGHT<T>) {
      uint4 w[IN_FLIGHT<T>];
#pragma unroll
      for (int k = 0; k < IN_FLIGHT<T>; k++) {
        const unsigned i = first + k * threads;
        if (i < vectors) w[k] = ptx::load_16_once(body + i);
      }
#pragma unroll
      for (int k = 0; k < IN_FLIGHT<T>; k++) {
        const unsigned i = first + k * threads;
        if (i < vectors) {
          const uint32_t key = key_of<NAN_IS_FIRST>(most_of<T, NAN_IS_FIRST>(w[k]));
          // Only what is larger takes the place, so that the first of equals keeps it.
          if (which == NOWHERE || key > most) {
            most = key;
            which = i;
            held = w[k];
          }
        }
      }
    }
    if (which != NOWHERE) {
      float v[N];
      Pack<T, N>{held}.unpack(v);
      unsigned at = N;
#pragma unroll
      for (unsigned e = N; e-- > 0;) at = key_of<NAN_IS_FIRST>(v[e]) == most ? e : at;
      const unsigned index = head + which * N + at;
      if (most > best.key || (most == best.key && index < best.index)) best = Best{most, index};
    }

    best = best_of_warp(best);
    if (lane == 0) of_warps[warp] = uint2{best.key, best.index};
    __syncthreads();
    // Nobody's is not before anybody's: its index is the largest.
    best = lane < warps ? Best{of_warps[lane].x, of_warps[lane].y} : Best{0, NOWHERE};
    best = best_of_warp(best);
    if (cluster.size > 1) {
      if (!met) cluster.await_peers();
      met = true;
      if (threadIdx.x == 0) ptx::store_8_in_block(&of_blocks[turn][cluster.rank], 0, uint2{best.key, best.index});
      cluster.synchronize();
      if (cluster.rank == 0 && warp == 0) {
        best = lane < cluster.size ? Best{of_blocks[turn][lane].x, of_blocks[turn][lane].y} : Best{0, NOWHERE};
        best = best_of_warp(best);
      }
      turn ^= 1;
    } else {
      __syncthreads();  // the warps' are read
    }
    if (rank == 0) {
      if (p.flags & INDEX_64) {
        static_cast<int64_t*>(p.out)[row] = best.index;
      } else {
        static_cast<uint32_t*>(p.out)[row] = best.index;
      }
    }
  }
  if (!met) cluster.await_peers();
}

template <class T>
__device__ __forceinline__ void argmax(const ArgmaxParams& p) {
  __shared__ uint2 of_warps[LANES];
  // Twice, so that the blocks of one row need not wait until the first has read those of the row before.
  __shared__ uint2 of_blocks[2][MOST_BLOCKS];
  launch_dependents();
  Cluster{}.announce();
  wait_for_predecessors();
  if (p.flags & NAN_FIRST) {
    argmax_rows<T, true>(p, of_warps, of_blocks);
  } else {
    argmax_rows<T, false>(p, of_warps, of_blocks);
  }
}

}  // namespace opweave

#define OPWEAVE_ARGMAX_ENTRY(DTYPE)                                                                    \
  extern "C" __global__ void __launch_bounds__(512, 2)                                              \
      opweave_argmax_##DTYPE##_row(const __grid_constant__ opweave::ArgmaxParams p) {               \
    opweave::argmax<opweave::DTYPE>(p);                                                              \
  }

OPWEAVE_ARGMAX_ENTRY(f32)
OPWEAVE_ARGMAX_ENTRY(f16)
OPWEAVE_ARGMAX_ENTRY(bf16)
