// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// out = activation(gate) * up, element by element.
//
// Nothing is shared between elements, so a row is cut into tiles and each block takes one: all loads of a thread are issued
// before the first is waited for.

#pragma once

#include <opweave/activation_params.cuh>
#include <opweave/launch.cuh>
#include <opweave/memory.cuh>

#include "functions.cuh"

namespace opweave {

template <class A, class T>
__device__ __forceinline__ float product(float y, float z, bool round) {
  if constexpr (NARROW<T>) {
    float a = A::short_way(z);
    if (round) {
      T rounded;
      round_to(rounded, a);
      a = to_f32(rounded);
    }
    return a * y;
  } else {
    return A::long_way(y, z);
  }
}

// Tiles of PACKS accesses of N elements in each thread.
template <class A, class T, int N, int PACKS>
__device__ __forceinline__ void products(const ActivationParams& p) {
  launch_dependents();
  wait_for_predecessors();
  const auto packs = static_cast<uint32_t>(static_cast<uint64_t>(p.width) / N);
  const bool round = p.flags & ROUND_ACTIVATION, stream = p.flags & STREAM_OUT;
  // A launch has a block for each tile unless there are more than a grid holds.
  const uint64_t all = static_cast<uint64_t>(p.rows) * p.tiles;
  for (uint64_t which = blockIdx.x; which < all; which += gridDim.x) {
    // A division of 64 bits takes longer than the tile.
    const uint64_t row = which >> 32 == 0 ? static_cast<uint32_t>(which) / p.tiles : which / p.tiles;
    const uint32_t first = static_cast<uint32_t>(which - row * p.tiles) * (blockDim.x * PACKS) + threadIdx.x;
    const auto at = [&](const void* base, int64_t stride) { return static_cast<const T*>(base) + static_cast<int64_t>(row) * stride; };
    const T* const gate = at(p.gate, p.gate_stride);
    const T* const up = at(p.up, p.up_stride);
    T* const out = static_cast<T*>(p.out) + static_cast<int64_t>(row) * p.out_stride;
    Pack<T, N> z[PACKS], y[PACKS];
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const uint32_t i = first + k * blockDim.x;
      if (i < packs) {
        z[k] = Pack<T, N>::once(gate + int64_t{i} * N);
        y[k] = Pack<T, N>::once(up + int64_t{i} * N);
      }
    }
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const uint32_t i = first + k * blockDim.x;
      if (i < packs) {
        float a[N], b[N];
        z[k].unpack(a);
        y[k].unpack(b);
#pragma unroll
        for (int e = 0; e < N; e++) b[e] = product<A, T>(b[e], a[e], round);
        Pack<T, N>::of(b).store_to(out + int64_t{i} * N, stream);
      }
    }
  }
}

// The entries of one dtype, as the descriptions list them: one or two vectors in each thread, or elements one by one.
#define OPWEAVE_ACTIVATION_ENTRY(STEM, A, DTYPE, SUFFIX, N, PACKS)                          \
  extern "C" __global__ void __launch_bounds__(512)                                       \
      opweave_##STEM##_##DTYPE##_##SUFFIX(const __grid_constant__ opweave::ActivationParams p) { \
    opweave::products<opweave::A, opweave::DTYPE, N, PACKS>(p);                           \
  }
#define OPWEAVE_ACTIVATION_ENTRIES(STEM, A, DTYPE)                                        \
  OPWEAVE_ACTIVATION_ENTRY(STEM, A, DTYPE, v1, opweave::VECTOR_OF<opweave::DTYPE>, 1)       \
  OPWEAVE_ACTIVATION_ENTRY(STEM, A, DTYPE, v2, opweave::VECTOR_OF<opweave::DTYPE>, 2)       \
  OPWEAVE_ACTIVATION_ENTRY(STEM, A, DTYPE, any, 1, 4)

}  // namespace opweave
