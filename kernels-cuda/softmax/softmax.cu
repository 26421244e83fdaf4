// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// softmax:     out = e^(x - m) / sum(e^(x - m)) with x = input / temperature and m = max(x), row by row
// log_softmax: out = x - m - ln(sum(e^(x - m))) (flag LOGARITHM)

#include <opweave/cluster.cuh>
#include <opweave/launch.cuh>

#include "chunk.cuh"

namespace opweave {

// Where a row of `input` and of `out` begin.
template <class T>
__device__ __forceinline__ const T* input_row(const SoftmaxParams& p, int64_t row) {
  return static_cast<const T*>(p.input) + row * p.input_stride;
}
template <class T>
__device__ __forceinline__ void* out_row(const SoftmaxParams& p, int64_t row) {
  const bool wide = p.flags & OUT_F32;
  return static_cast<char*>(p.out) + row * p.out_stride * static_cast<int64_t>(wide ? sizeof(float) : sizeof(T));
}

template <class T, int N, int HELD>
__device__ __forceinline__ Chunk reduce_chunk(const SoftmaxParams& p, const Pack<T, N>* packs, float first, unsigned lane) {
  if (p.flags & LOGARITHM) return reduce<T, N, HELD, true>(packs, first, p.scale, lane);
  return reduce<T, N, HELD, false>(packs, first, p.scale, lane);
}

// Reads the packs of a chunk that a lane has, all of them on their way at once.
template <class T, int N, int HELD>
__device__ __forceinline__ void read_chunk(const T* row, unsigned first, unsigned packs, Pack<T, N>* held) {
#pragma unroll
  for (int k = 0; k < HELD; k++) {
    const unsigned i = first + k * LANES;
    held[k] = i < packs ? Pack<T, N>::once(row + int64_t{i} * N) : absent<T, N>();
  }
}

template <class T, int N, int HELD>
__device__ __forceinline__ void write_packs(
    const SoftmaxParams& p, void* row, unsigned first, unsigned packs, const Pack<T, N>* held, const Result& result) {
  const bool logarithm = p.flags & LOGARITHM;
#pragma unroll
  for (int k = 0; k < HELD; k++) {
    const unsigned i = first + k * LANES;
    if (i < packs) {
      float v[N];
      held[k].unpack(v);
      result.of(logarithm, v);
      write<T, N>(row, int64_t{i} * N, v, p.flags);
    }
  }
}

// A row of at most HELD * 32 vectors in each warp, blockDim.y warps in a block.
template <class T, int HELD>
__device__ __forceinline__ void row_of_a_warp(const SoftmaxParams& p) {
  constexpr int N = VECTOR_OF<T>;
  launch_dependents();
  wait_for_predecessors();
  const unsigned lane = threadIdx.x, packs = static_cast<unsigned>(static_cast<uint64_t>(p.width) / N);
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.y;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y; row < p.rows; row += step) {
    Pack<T, N> held[HELD];
    read_chunk<T, N, HELD>(input_row<T>(p, row), lane, packs, held);
    const Result result(p, reduce_chunk<T, N, HELD>(p, held, 1.0f, lane), 1.0f);
    write_packs<T, N, HELD>(p, out_row<T>(p, row), lane, packs, held, result);
  }
}

// A row of at most CHUNKS chunks in each warp of a cluster. It is read once and stays in registers.
template <class T, int CHUNKS>
__device__ __forceinline__ void row_of_a_cluster(const SoftmaxParams& p) {
  constexpr int N = VECTOR_OF<T>;
  // Of the widest row that 16 blocks of 16 warps hold. Twice, so that the chunks of one row need not wait until all blocks
  // have read those of the row before.
  __shared__ uint2 chunks[2][256 * CHUNKS];
  launch_dependents();
  const Cluster cluster;
  cluster.announce();
  wait_for_predecessors();
  const unsigned lane = threadIdx.x % LANES, warps = blockDim.x / LANES;
  const unsigned packs = static_cast<unsigned>(static_cast<uint64_t>(p.width) / N), count = (packs + CHUNK - 1) / CHUNK;
  const unsigned mine = (cluster.rank * warps + threadIdx.x / LANES) * CHUNKS;
  unsigned turn = 0;
  bool met = false;
  for (int64_t row = blockIdx.x / cluster.size; row < p.rows; row += gridDim.x / cluster.size) {
    Pack<T, N> held[CHUNKS * DEPTH];
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
      read_chunk<T, N, DEPTH>(input_row<T>(p, row), (mine + c) * CHUNK + lane, packs, held + c * DEPTH);
    }
    Chunk reduced[CHUNKS];
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) reduced[c] = reduce_chunk<T, N, DEPTH>(p, held + c * DEPTH, 1.0f, lane);
    if (!met) cluster.await_peers();
    met = true;
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
      if (mine + c < count) cluster.publish(&chunks[turn][mine + c], words_of(reduced[c]), lane);
    }
    cluster.synchronize();
    const Result result(p, combine(chunks[turn], count, 1.0f, p.scale, lane), 1.0f);
    write_packs<T, N, CHUNKS * DEPTH>(p, out_row<T>(p, row), mine * CHUNK + lane, packs, held, result);
    turn ^= 1;
  }
  if (!met) cluster.await_peers();
}

// Rows of any width in a block, in packs of N: read twice, the second time from a cache if it fits there.
template <class T, int N>
__device__ __forceinline__ void row_of_a_loop(const SoftmaxParams& p, uint2* chunks) {
  const unsigned lane = threadIdx.x % LANES, warps = blockDim.x / LANES;
  const unsigned packs = static_cast<unsigned>(static_cast<uint64_t>(p.width) / N), count = (packs + CHUNK - 1) / CHUNK;
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
    Pack<T, N> held[DEPTH];
#pragma unroll 1
    for (unsigned c = threadIdx.x / LANES; c < count; c += warps) {
      read_chunk<T, N, DEPTH>(input_row<T>(p, row), c * CHUNK + lane, packs, held);
      const Chunk reduced = reduce_chunk<T, N, DEPTH>(p, held, p.first, lane);
      if (lane == 0) chunks[c] = words_of(reduced);
    }
    __syncthreads();
    const Result result(p, combine(chunks, count, p.first, p.scale, lane), p.first);
#pragma unroll 1
    for (unsigned c = threadIdx.x / LANES; c < count; c += warps) {
      read_chunk<T, N, DEPTH>(input_row<T>(p, row), c * CHUNK + lane, packs, held);
      write_packs<T, N, DEPTH>(p, out_row<T>(p, row), c * CHUNK + lane, packs, held, result);
    }
    __syncthreads();
  }
}

template <class T>
__device__ __forceinline__ void rows_of_any_width(const SoftmaxParams& p) {
  __shared__ uint2 chunks[262144 / CHUNK];  // of the widest row, element by element
  launch_dependents();
  wait_for_predecessors();
  if (p.flags & SOFTMAX_VECTOR) {
    row_of_a_loop<T, VECTOR_OF<T>>(p, chunks);
  } else {
    row_of_a_loop<T, 1>(p, chunks);
  }
}

}  // namespace opweave

#define OPWEAVE_SOFTMAX_ENTRY(DTYPE, SUFFIX, BLOCK, BLOCKS, BODY)                                                               \
  extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS) opweave_softmax_##DTYPE##_##SUFFIX(                               \
      const __grid_constant__ opweave::SoftmaxParams p) {                                                                     \
    BODY;                                                                                                         \
  }
#define OPWEAVE_SOFTMAX_ENTRIES(DTYPE)                                                      \
  OPWEAVE_SOFTMAX_ENTRY(DTYPE, w1, 128, 8, (opweave::row_of_a_warp<opweave::DTYPE, 1>(p)))              \
  OPWEAVE_SOFTMAX_ENTRY(DTYPE, w4, 128, 8, (opweave::row_of_a_warp<opweave::DTYPE, opweave::DEPTH>(p))) \
  OPWEAVE_SOFTMAX_ENTRY(DTYPE, c1, 512, 3, (opweave::row_of_a_cluster<opweave::DTYPE, 1>(p)))           \
  OPWEAVE_SOFTMAX_ENTRY(DTYPE, c2, 512, 2, (opweave::row_of_a_cluster<opweave::DTYPE, 2>(p)))           \
  OPWEAVE_SOFTMAX_ENTRY(DTYPE, loop, 512, 2, (opweave::rows_of_any_width<opweave::DTYPE>(p)))

OPWEAVE_SOFTMAX_ENTRIES(f32)
OPWEAVE_SOFTMAX_ENTRIES(f16)
OPWEAVE_SOFTMAX_ENTRIES(bf16)
