// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// dynamic_quant: scale = max(abs(input)) / largest code, out = saturate(round(input / scale)), row by row.
//
// A row is read once, its largest magnitude goes through the team, and its codes are formed out of registers. The loop reads
// a row twice. Neither depends on the order in which a maximum is found, so block and grid change no bit.

#include <opweave/launch.cuh>
#include <opweave/quantize.cuh>
#include <opweave/reduce.cuh>

namespace opweave {

template <class T>
__device__ __forceinline__ const T* input_row(const QuantParams& p, int64_t row) {
  return static_cast<const T*>(p.input) + row * p.input_stride;
}

// Rows of at most PACKS vectors in each thread of a team.
template <class TEAM, class T, int PACKS>
__device__ __forceinline__ void register_rows(const QuantParams& p) {
  constexpr int N = VECTOR_OF<T>;
  __shared__ typename Largest<TEAM>::Scratch scratch;
  launch_dependents();
  const TEAM team;
  Largest<TEAM> largest(scratch);
  const unsigned vectors = static_cast<unsigned>(static_cast<uint64_t>(p.width) / N);
  wait_for_predecessors();
  for (Turns<TEAM> rows(p.rows); rows.more(); rows.advance()) {
    const int64_t row = rows.mine();
    const bool active = rows.active();
    const T* input = input_row<T>(p, row);
    uint8_t* out = p.out + row * p.out_stride;
    Pack<T, N> held[PACKS];
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const unsigned v = team.rank + k * team.size;
      held[k] = active && v < vectors ? Pack<T, N>::once(input + int64_t{v} * N) : Pack<T, N>::zero();
    }
    Magnitude<T, N> most;
#pragma unroll
    for (int k = 0; k < PACKS; k++) most.add(held[k]);
    const float scale = row_scale(p.code, largest(team, most.bits()));
    if (!active) continue;
    if (team.rank == 0) write_scale(p.code, row, scale);
    const Quotients quotients(scale);
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const unsigned v = team.rank + k * team.size;
      if (v >= vectors) continue;
      float q[N];
      held[k].unpack(q);
      quotients(q);
      write_codes(p.code.flags, q, out + int64_t{v} * N, p.flags & QUANT_STREAM);
    }
  }
}

// Rows of any width, in packs of N.
template <class T, int N>
__device__ __forceinline__ void loop_rows(const QuantParams& p, Largest<BlockTeam>::Scratch& scratch) {
  const BlockTeam team;
  Largest<BlockTeam> largest(scratch);
  const int64_t packs = p.width / N;
  for (Turns<BlockTeam> rows(p.rows); rows.more(); rows.advance()) {
    const int64_t row = rows.mine();
    const T* input = input_row<T>(p, row);
    uint8_t* out = p.out + row * p.out_stride;
    Magnitude<T, N> most;
#pragma unroll 4
    for (int64_t i = team.rank; i < packs; i += team.size) most.add(Pack<T, N>::shared(input + i * N));
    const float scale = row_scale(p.code, largest(team, most.bits()));
    if (team.rank == 0) write_scale(p.code, row, scale);
    const Quotients quotients(scale);
#pragma unroll 2
    for (int64_t i = team.rank; i < packs; i += team.size) {
      float q[N];
      Pack<T, N>::once(input + i * N).unpack(q);
      quotients(q);
      write_codes(p.code.flags, q, out + i * N, p.flags & QUANT_STREAM);
    }
  }
}

template <class T>
__device__ __forceinline__ void any_rows(const QuantParams& p) {
  __shared__ Largest<BlockTeam>::Scratch scratch;
  launch_dependents();
  wait_for_predecessors();
  if (p.flags & QUANT_VECTOR) {
    loop_rows<T, VECTOR_OF<T>>(p, scratch);
  } else {
    loop_rows<T, 1>(p, scratch);
  }
}

}  // namespace opweave

#define OPWEAVE_DYNAMIC_QUANT_ENTRY(DTYPE, SUFFIX, BLOCK, BODY)                                           \
  extern "C" __global__ void __launch_bounds__(BLOCK, 1)                                                  \
      opweave_dynamic_quant_##DTYPE##_##SUFFIX(const __grid_constant__ opweave::QuantParams p) {          \
    BODY;                                                                                                 \
  }
#define OPWEAVE_DYNAMIC_QUANT_VARIANT(DTYPE, SUFFIX, BLOCK, TEAM, PACKS) \
  OPWEAVE_DYNAMIC_QUANT_ENTRY(DTYPE, SUFFIX, BLOCK, (opweave::register_rows<opweave::TEAM, opweave::DTYPE, PACKS>(p)))
#define OPWEAVE_DYNAMIC_QUANT_ENTRIES(DTYPE)                    \
  OPWEAVE_DYNAMIC_QUANT_VARIANT(DTYPE, w1, 128, LaneTeam, 1)    \
  OPWEAVE_DYNAMIC_QUANT_VARIANT(DTYPE, w4, 128, LaneTeam, 4)    \
  OPWEAVE_DYNAMIC_QUANT_VARIANT(DTYPE, v1, 1024, BlockTeam, 1)  \
  OPWEAVE_DYNAMIC_QUANT_VARIANT(DTYPE, v2, 1024, BlockTeam, 2)  \
  OPWEAVE_DYNAMIC_QUANT_VARIANT(DTYPE, v4, 1024, BlockTeam, 4)  \
  OPWEAVE_DYNAMIC_QUANT_ENTRY(DTYPE, loop, 1024, (opweave::any_rows<opweave::DTYPE>(p)))

OPWEAVE_DYNAMIC_QUANT_ENTRIES(f32)
OPWEAVE_DYNAMIC_QUANT_ENTRIES(f16)
OPWEAVE_DYNAMIC_QUANT_ENTRIES(bf16)
