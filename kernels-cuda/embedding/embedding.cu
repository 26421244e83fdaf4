// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// embedding: out[t] = table[ids[t] - begin] where begin <= ids[t] < end, else zeros; a fault where ids[t] is no id at all

#include <opweave/embedding_params.cuh>
#include <opweave/index.cuh>
#include <opweave/launch.cuh>
#include <opweave/memory.cuh>

namespace opweave {

// Tiles of PACKS accesses of N elements in each thread.
template <class T, int N, int PACKS>
__device__ __forceinline__ void gather(const EmbeddingParams& p) {
  launch_dependents();
  wait_for_predecessors();
  const uint32_t packs = p.width / N;
  const bool stream = p.flags & EMBEDDING_STREAM;
  // A launch has a block for each tile unless there are more than a grid holds.
  const uint64_t all = static_cast<uint64_t>(p.tokens) * p.tiles;
  for (uint64_t which = blockIdx.x; which < all; which += gridDim.x) {
    const uint64_t token = divide(which, p.tiles);
    const auto tile = static_cast<uint32_t>(which - token * p.tiles);
    const int64_t id = load_index(p.ids, token, p.flags & ID_64, p.flags & ID_UNSIGNED);
    const bool held = id >= p.begin && id < p.end;
    if (tile == 0 && threadIdx.x == 0 && (id < 0 || id >= p.vocabulary)) raise_fault(p.faults, p.operation, 0, token);
    const T* const row = static_cast<const T*>(p.table) + (held ? (id - p.begin) * p.table_stride : 0);
    T* const out = static_cast<T*>(p.out) + static_cast<int64_t>(token) * p.out_stride;
    const uint32_t first = tile * (blockDim.x * PACKS) + threadIdx.x;
    Pack<T, N> pack[PACKS];
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const uint32_t i = first + k * blockDim.x;
      pack[k] = held && i < packs ? Pack<T, N>::once(row + int64_t{i} * N) : Pack<T, N>::zero();
    }
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const uint32_t i = first + k * blockDim.x;
      if (i < packs) pack[k].store_to(out + int64_t{i} * N, stream);
    }
  }
}

}  // namespace opweave

#define OPWEAVE_EMBEDDING_ENTRY(DTYPE, SUFFIX, N, PACKS)                                         \
  extern "C" __global__ void __launch_bounds__(512)                                            \
      opweave_embedding_##DTYPE##_##SUFFIX(const __grid_constant__ opweave::EmbeddingParams p) { \
    opweave::gather<opweave::DTYPE, N, PACKS>(p);                                              \
  }
#define OPWEAVE_EMBEDDING_ENTRIES(DTYPE)                                       \
  OPWEAVE_EMBEDDING_ENTRY(DTYPE, v1, opweave::VECTOR_OF<opweave::DTYPE>, 1)    \
  OPWEAVE_EMBEDDING_ENTRY(DTYPE, v4, opweave::VECTOR_OF<opweave::DTYPE>, 4)    \
  OPWEAVE_EMBEDDING_ENTRY(DTYPE, any, 1, 4)

OPWEAVE_EMBEDDING_ENTRIES(f32)
OPWEAVE_EMBEDDING_ENTRIES(f16)
OPWEAVE_EMBEDDING_ENTRIES(bf16)
