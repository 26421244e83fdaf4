// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Rows that are divided by their root mean square and then quantised, each with a scale of its own.
//
// As `rms.cuh` has it, over the same operations; but what comes out of the scaling stays in registers until its largest
// magnitude has gone through the team too. Sums and roundings are those of the two operators one after the other, and so
// are the bits.

#pragma once

#include <opweave/norm_quant_params.cuh>
#include <opweave/quantize.cuh>

#include "rms.cuh"

namespace opweave {

// What is quantised: the norm as it would be written, or in f32.
template <class T, int N>
__device__ __forceinline__ void round_norm(const NormParams& p, float (&y)[N]) {
  if (!(p.flags & QUANTISE_UNROUNDED)) round_values<T>(y);
}
template <class T>
__device__ __forceinline__ float round_norm_f64(const NormParams& p, double y) {
  return p.flags & QUANTISE_UNROUNDED ? round_f64<float>(y) : to_f32(round_f64<T>(y));
}

template <int N>
__device__ __forceinline__ uint32_t largest_bits(const float (&y)[N]) {
  float most = fabsf(y[0]);
#pragma unroll
  for (int e = 1; e < N; e++) most = ptx::larger(most, fabsf(y[e]));
  return __float_as_uint(most) & MAGNITUDE;
}

__device__ __forceinline__ uint8_t* codes_at(const NormQuantParams& p, int64_t row) {
  return static_cast<uint8_t*>(p.norm.out) + row * p.norm.out_stride;
}

// A whole row in f64, if it is `wanted`. Nothing of it was written yet, and the residual is not until its sums are no longer
// asked for. Rare, so kept small: no unrolling.
template <bool LONG, class Op, class TEAM>
__device__ __forceinline__ void exact_quantized(
    const NormQuantParams& p, const TEAM& team, const typename Op::Row& row, bool wanted, double (&scratch)[32],
    Largest<TEAM>& largest) {
  using T = typename Op::T;
  const int64_t width = wanted ? p.norm.width : 0;
  const double inverse = exact_inverse<LONG, Op>(p.norm, team, row, width, scratch);
  uint32_t most = 0;
#pragma unroll 1
  for (int64_t i = team.rank; i < width; i += team.size) {
    const double y = exact_scaled<Op>(p.norm, row, i, Op::value(p.norm, row, i), inverse);
    most = larger_bits(most, __float_as_uint(round_norm_f64<T>(p.norm, y)) & MAGNITUDE);
  }
  const float scale = row_scale(p.code, largest(team, most));
  if (wanted && team.rank == 0) write_scale(p.code, row.place.row, scale);
  const Quotients quotients(scale);
#pragma unroll 1
  for (int64_t i = team.rank; i < width; i += team.size) {
    const double v = Op::value(p.norm, row, i);
    float q[1] = {round_norm_f64<T>(p.norm, exact_scaled<Op>(p.norm, row, i, v, inverse))};
    Op::keep_value(row, i, v);
    quotients(q);
    write_codes(p.code.flags, q, codes_at(p, row.place.row) + i, false);
  }
}

// Rows of at most PACKS vectors in each thread of a team.
template <class TEAM, class Op, int PACKS>
__device__ __forceinline__ void quantized_rows(const NormQuantParams& q) {
  using T = typename Op::T;
  constexpr int N = VECTOR_OF<T>;
  const NormParams& p = q.norm;
  __shared__ typename RowSums<TEAM, 1, PACKS>::Scratch scratch;
  __shared__ typename Largest<TEAM>::Scratch largest_scratch;
  __shared__ double exact_scratch[32];

  launch_dependents();
  const TEAM team;
  const unsigned vectors = static_cast<unsigned>(static_cast<uint64_t>(p.width) / N);
  RowSums<TEAM, 1, PACKS> row_sums(scratch, vectors);
  Largest<TEAM> largest(largest_scratch);

  Pack<T, N> weight[PACKS];
  auto read_weight = [&] {
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const unsigned v = team.rank + k * team.size;
      weight[k] = v < vectors ? Weight<T>::template early<N>(p, p.weight, int64_t{v} * N) : Pack<T, N>::zero();
    }
  };
  // While the kernel before this one still runs. A weight that it may be writing is read after it.
  const bool ready = p.flags & PARAMETERS_READY;
  if (ready) read_weight();
  wait_for_predecessors();
  if (!ready) read_weight();

  for (Segments<TEAM, false> segments(p); segments.more(); segments.advance()) {
    const bool active = segments.active();
    const typename Op::Row row(p, Place{segments.mine(), 0});
    typename Op::template Held<N> held[PACKS];
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const unsigned v = team.rank + k * team.size;
      if (active && v < vectors) {
        held[k].read(row, int64_t{v} * N);
      } else {
        held[k].clear();
      }
    }
    float part[PACKS];
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      held[k].prepare(p);
      float v[N];
      held[k].values(v);
      part[k] = squares(v);
    }
    float sum[1], inverse;
    row_sums(team, part, sum);
    const bool good = Op::inverse(p, sum[0], inverse);
    if (team.any_in_warp(active && !good)) {
      exact_quantized<false, Op>(q, team, row, active && !good, exact_scratch, largest);
      if (TEAM::IS_BLOCK) continue;
    }
    const bool mine = active && good;
    float y[PACKS][N];
    uint32_t most = 0;
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      held[k].rest();
      weight[k].forget_values();  // or it would be unpacked once and for all rows
    }
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const unsigned v = team.rank + k * team.size;
      if (!mine || v >= vectors) continue;
      held[k].keep(row, int64_t{v} * N, p.flags & STREAM);
      scaled_pack<Op, N>(p, row, held[k], weight[k], int64_t{v} * N, inverse, y[k]);
      round_norm<T>(p, y[k]);
      most = larger_bits(most, largest_bits(y[k]));
    }
    const float scale = row_scale(q.code, largest(team, most));
    if (!mine) continue;
    if (team.rank == 0) write_scale(q.code, row.place.row, scale);
    const Quotients quotients(scale);
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const unsigned v = team.rank + k * team.size;
      if (v >= vectors) continue;
      quotients(y[k]);
      write_codes(q.code.flags, y[k], codes_at(q, row.place.row) + int64_t{v} * N, p.flags & STREAM);
    }
  }
}

// Rows of any width, in packs of N: read three times, all but the first from a cache if they fit there.
template <class Op, int N>
__device__ __forceinline__ void quantized_loop(
    const NormQuantParams& q, double (&scratch)[32], Largest<BlockTeam>::Scratch& largest_scratch) {
  using T = typename Op::T;
  const NormParams& p = q.norm;
  const BlockTeam team;
  Largest<BlockTeam> largest(largest_scratch);
  const int64_t packs = p.width / N;
  for (Segments<BlockTeam, false> segments(p); segments.more(); segments.advance()) {
    const typename Op::Row row(p, Place{segments.mine(), 0});
    float inverse;
    if (!Op::inverse(p, loop_sum<Op, N>(p, team, row, packs, scratch), inverse)) {
      exact_quantized<true, Op>(q, team, row, true, scratch, largest);
      continue;
    }
    const auto norm = [&](int64_t i, bool keep, float(&y)[N]) {
      typename Op::template Held<N> held;
      held.read(row, i);
      held.prepare(p);
      const Pack<T, N> weight = Weight<T>::template early<N>(p, p.weight, i);
      scaled_pack<Op, N>(p, row, held, weight, i, inverse, y);
      round_norm<T>(p, y);
      if (keep) held.keep(row, i, p.flags & STREAM);
    };
    uint32_t most = 0;
#pragma unroll 2
    for (int64_t i = team.rank; i < packs; i += team.size) {
      float y[N];
      norm(i * N, false, y);
      most = larger_bits(most, largest_bits(y));
    }
    const float scale = row_scale(q.code, largest(team, most));
    if (team.rank == 0) write_scale(q.code, row.place.row, scale);
    const Quotients quotients(scale);
#pragma unroll 2
    for (int64_t i = team.rank; i < packs; i += team.size) {
      float y[N];
      norm(i * N, true, y);
      quotients(y);
      write_codes(q.code.flags, y, codes_at(q, row.place.row) + i * N, p.flags & STREAM);
    }
  }
}

template <class Op>
__device__ __forceinline__ void quantized_any(const NormQuantParams& q) {
  __shared__ double scratch[32];
  __shared__ Largest<BlockTeam>::Scratch largest_scratch;
  launch_dependents();
  wait_for_predecessors();
  if (q.norm.flags & VECTOR) {
    quantized_loop<Op, VECTOR_OF<typename Op::T>>(q, scratch, largest_scratch);
  } else {
    quantized_loop<Op, 1>(q, scratch, largest_scratch);
  }
}

// Four vectors in each thread of a block would leave registers for half as many threads, so nothing would be gained.
#define OPWEAVE_QUANTIZED_ENTRY(STEM, DTYPE, SUFFIX, BLOCK, BODY)                                    \
  extern "C" __global__ void __launch_bounds__(BLOCK, 1)                                                  \
      opweave_##STEM##_##DTYPE##_##SUFFIX(const __grid_constant__ opweave::NormQuantParams p) {      \
    BODY;                                                                                            \
  }
#define OPWEAVE_QUANTIZED_VARIANT(STEM, OPERATION, DTYPE, SUFFIX, BLOCK, TEAM, PACKS) \
  OPWEAVE_QUANTIZED_ENTRY(STEM, DTYPE, SUFFIX, BLOCK, (opweave::quantized_rows<opweave::TEAM, opweave::OPERATION<opweave::DTYPE>, PACKS>(p)))
#define OPWEAVE_QUANTIZED_ENTRIES(STEM, OPERATION, DTYPE)                  \
  OPWEAVE_QUANTIZED_VARIANT(STEM, OPERATION, DTYPE, w4, 128, LaneTeam, 4)  \
  OPWEAVE_QUANTIZED_VARIANT(STEM, OPERATION, DTYPE, v1, 1024, BlockTeam, 1) \
  OPWEAVE_QUANTIZED_VARIANT(STEM, OPERATION, DTYPE, v2, 1024, BlockTeam, 2) \
  OPWEAVE_QUANTIZED_ENTRY(STEM, DTYPE, loop, 1024, (opweave::quantized_any<opweave::OPERATION<opweave::DTYPE>>(p)))

}  // namespace opweave
