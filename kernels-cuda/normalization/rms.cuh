// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Rows divided by their root mean square, or by their norm.
//
// One body for the family, written over an *operation*: what is normalised (`Held`, read once and kept in registers), the
// divisor, and what happens to the normalised value. A row is read from memory once, its sum of squares goes through the
// team, and the row is scaled out of registers. Where f32 cannot hold the statistic (squares that overflow or vanish, a row
// of zeros without epsilon, infinities, NaN) the row is done again in f64, element by element, by the plain formula.

#pragma once

#include "norm.cuh"

namespace opweave {

// The divisors. `inverse` gives its reciprocal in f32, or says no; `divisor` is the definition.
struct RootMeanSquare {
  static __device__ __forceinline__ bool inverse(const NormParams& p, float sum, float& r) {
    const float argument = fmaf(sum, p.inverse_width, p.epsilon);
    r = reciprocal_root(argument);
    return trusted(argument);
  }
  static __device__ __forceinline__ double divisor(const NormParams& p, double sum) {
    return sqrt(sum / static_cast<double>(p.width) + static_cast<double>(p.epsilon));
  }
};

struct EuclideanNorm {
  static __device__ __forceinline__ bool inverse(const NormParams& p, float sum, float& r) {
    if (p.flags & MAX_NORM_EPS) {
      const bool least = sqrtf(sum) < p.epsilon;
      r = least ? 1.0f / p.epsilon : reciprocal_root(sum);
      // In the place of the norm epsilon must do, and in that of the sum its square.
      return trusted(least ? p.epsilon * p.epsilon : sum);
    }
    const float argument = sum + p.epsilon;
    r = reciprocal_root(argument);
    return trusted(argument);
  }
  static __device__ __forceinline__ double divisor(const NormParams& p, double sum) {
    const double epsilon = p.epsilon;
    if (p.flags & MAX_NORM_EPS) {
      const double norm = sqrt(sum);
      return norm < epsilon ? epsilon : norm;  // not fmax, which would lose a NaN
    }
    return sqrt(sum + epsilon);
  }
};

// One pack, scaled; `early` is the weight if it is of T.
template <class Op, int N>
__device__ __forceinline__ void scaled_pack(
    const NormParams& p, const typename Op::Row& row, const typename Op::template Held<N>& held,
    const Pack<typename Op::T, N>& early, int64_t i, float inverse, float (&y)[N]) {
  using T = typename Op::T;
  held.values(y);
#pragma unroll
  for (int e = 0; e < N; e++) y[e] *= inverse;
  if constexpr (Op::WEIGHTED) {
    if (NARROW<T> && (p.flags & ROUND_NORMALISED)) round_values<T>(y);
    float w[N];
    if (Weight<T>::template values<N>(p, p.weight, early, row.place.column + i, w)) {
      if (p.flags & WEIGHT_PLUS_ONE) {
#pragma unroll
        for (int e = 0; e < N; e++) w[e] += 1.0f;
      }
#pragma unroll
      for (int e = 0; e < N; e++) y[e] *= w[e];
    }
  }
  held.finish(p, y);
}

// Scales one pack and writes it.
template <class Op, int N>
__device__ __forceinline__ void scale_pack(
    const NormParams& p, const typename Op::Row& row, const typename Op::template Held<N>& held,
    const Pack<typename Op::T, N>& early, int64_t i, float inverse) {
  float y[N];
  held.keep(row, i, p.flags & STREAM);
  scaled_pack<Op, N>(p, row, held, early, i, inverse, y);
  Pack<typename Op::T, N>::of(y).store_to(row.out + i, p.flags & STREAM);
}

// What becomes of `v` at column i of a row that is done in f64.
template <class Op>
__device__ __forceinline__ double exact_scaled(
    const NormParams& p, const typename Op::Row& row, int64_t i, double v, double inverse) {
  using T = typename Op::T;
  double y = v * inverse;
  if constexpr (Op::WEIGHTED) {
    if (p.flags & ROUND_NORMALISED) y = to_f32(round_f64<T>(y));
    if (p.flags & (WEIGHT_SAME | WEIGHT_F32)) {
      const double w = Weight<T>::value(p, p.weight, row.place.column + i, 1.0);
      y *= p.flags & WEIGHT_PLUS_ONE ? 1.0 + w : w;
    }
  }
  return Op::finish_value(p, row, i, y);
}

// The reciprocal of the divisor of a segment of `width` columns, in f64.
template <bool LONG, class Op, class TEAM>
__device__ __forceinline__ double exact_inverse(
    const NormParams& p, const TEAM& team, const typename Op::Row& row, int64_t width, double (&scratch)[32]) {
  const double sum = exact_sum<LONG>(team, width, scratch, [&](int64_t i) {
    const double v = Op::value(p, row, i);
    return v * v;
  });
  return 1.0 / Op::Statistic::divisor(p, sum);
}

// A whole segment in f64, if it is `wanted`. Nothing of it was written yet. Rare, so kept small: no unrolling.
template <bool LONG, class Op, class TEAM>
__device__ __forceinline__ void exact_segment(
    const NormParams& p, const TEAM& team, const typename Op::Row& row, bool wanted, double (&scratch)[32]) {
  using T = typename Op::T;
  const int64_t width = wanted ? p.width : 0;
  const double inverse = exact_inverse<LONG, Op>(p, team, row, width, scratch);
#pragma unroll 1
  for (int64_t i = team.rank; i < width; i += team.size) {
    const double v = Op::value(p, row, i);
    const double y = exact_scaled<Op>(p, row, i, v, inverse);
    Op::keep_value(row, i, v);
    store_element(row.out + i, round_f64<T>(y));
  }
}

// Rows of at most PACKS vectors in each thread of a team.
template <class TEAM, class Op, int PACKS>
__device__ __forceinline__ void register_rows(const NormParams& p) {
  using T = typename Op::T;
  constexpr int N = VECTOR_OF<T>;
  __shared__ typename RowSums<TEAM, 1, PACKS>::Scratch scratch;
  __shared__ double exact_scratch[32];

  launch_dependents();
  const TEAM team;
  unsigned vectors = static_cast<unsigned>(static_cast<uint64_t>(p.width) / N);
  RowSums<TEAM, 1, PACKS> row_sums(scratch, vectors);

  Pack<T, N> weight[PACKS];
  auto read_weight = [&](int64_t column) {
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const unsigned v = team.rank + k * team.size;
      weight[k] = Pack<T, N>::zero();
      if (Op::WEIGHTED && v < vectors) weight[k] = Weight<T>::template early<N>(p, p.weight, column + int64_t{v} * N);
    }
  };
  // Where the first row is, so that nothing but its loads is left to do after the wait.
  const auto row_of = [&](int64_t segment) { return typename Op::Row(p, place_of<Op::GROUPED>(p, segment)); };
  Segments<TEAM, Op::GROUPED> segments(p);
  typename Op::Row row = row_of(segments.mine());
  constexpr bool EARLY = PARAMETERS_EARLY<PACKS>;
  if constexpr (EARLY) {
    row.have();
    ptx::have(segments.first), ptx::have(segments.step), ptx::have(segments.end), ptx::have(vectors);
  }

  const bool by_group = Op::GROUPED && p.groups > 1;
  // While the kernel before this one still runs. Parameters that it may be writing are read after it.
  const bool ready = p.flags & PARAMETERS_READY;
  if (EARLY && ready && !by_group) read_weight(0);
  wait_for_predecessors();
  if (EARLY && !ready && !by_group) read_weight(0);

  for (; segments.more(); segments.advance(), row = row_of(segments.mine())) {
    const bool active = segments.active();
    if constexpr (!EARLY) row = row_of(segments.mine());  // not kept meanwhile
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
    if (EARLY && by_group && active) read_weight(row.place.column);
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
    if (__builtin_expect(team.any_in_warp(active && !good), false)) exact_segment<false, Op>(p, team, row, active && !good, exact_scratch);
    if (!active || !good) continue;
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      held[k].rest();
      if (EARLY) weight[k].forget_values();  // or it would be unpacked once and for all rows
    }
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const unsigned v = team.rank + k * team.size;
      if (v >= vectors) continue;
      Pack<T, N> w = Pack<T, N>::zero();
      if constexpr (EARLY) {
        w = weight[k];
      } else if constexpr (Op::WEIGHTED) {
        w = Weight<T>::template early<N>(p, p.weight, row.place.column + int64_t{v} * N);
      }
      scale_pack<Op, N>(p, row, held[k], w, int64_t{v} * N, inverse);
    }
  }
}

// The sum of squares of a segment of any width, in packs of N.
template <class Op, int N>
__device__ __forceinline__ float loop_sum(
    const NormParams& p, const BlockTeam& team, const typename Op::Row& row, int64_t packs, double (&scratch)[32]) {
  double total = 0;
  float block = 0;
  int in_block = 0;
#pragma unroll 4
  for (int64_t i = team.rank; i < packs; i += team.size) {
    typename Op::template Held<N> held;
    held.read(row, i * N);
    held.prepare(p);
    float v[N];
    held.values(v);
    block += squares(v);
    if (++in_block == FLUSH) {
      total += block;
      block = 0;
      in_block = 0;
    }
  }
  // To f32 once the sum is whole: its rounding is that of every other row.
  return static_cast<float>(sum_f64(team, total + block, scratch));
}

// Segments of any width, in packs of N: read twice, the second time from a cache if it fits there.
template <class Op, int N>
__device__ __forceinline__ void loop_segments(const NormParams& p, double (&scratch)[32]) {
  using T = typename Op::T;
  const BlockTeam team;
  const int64_t packs = p.width / N;
  for (Segments<BlockTeam, Op::GROUPED> segments(p); segments.more(); segments.advance()) {
    const typename Op::Row row(p, place_of<Op::GROUPED>(p, segments.mine()));
    float inverse;
    if (!Op::inverse(p, loop_sum<Op, N>(p, team, row, packs, scratch), inverse)) {
      exact_segment<true, Op>(p, team, row, true, scratch);
      continue;
    }
#pragma unroll 2
    for (int64_t i = team.rank; i < packs; i += team.size) {
      typename Op::template Held<N> held;
      held.read(row, i * N);
      held.prepare(p);
      Pack<T, N> weight = Pack<T, N>::zero();
      if (Op::WEIGHTED) weight = Weight<T>::template early<N>(p, p.weight, row.place.column + i * N);
      scale_pack<Op, N>(p, row, held, weight, i * N, inverse);
    }
  }
}

template <class Op>
__device__ __forceinline__ void loop_rows(const NormParams& p) {
  __shared__ double scratch[32];
  launch_dependents();
  wait_for_predecessors();
  if (p.flags & VECTOR) {
    loop_segments<Op, VECTOR_OF<typename Op::T>>(p, scratch);
  } else {
    loop_segments<Op, 1>(p, scratch);
  }
}

#define OPWEAVE_RMS_VARIANT(STEM, OPERATION, DTYPE, SUFFIX, BLOCK, TEAM, PACKS) \
  OPWEAVE_NORM_ENTRY(STEM, DTYPE, SUFFIX, BLOCK, (opweave::register_rows<opweave::TEAM, opweave::OPERATION<opweave::DTYPE>, PACKS>(p)))
#define OPWEAVE_RMS_ENTRIES(STEM, OPERATION, DTYPE, V2_BLOCK, V4_BLOCK)     \
  OPWEAVE_RMS_VARIANT(STEM, OPERATION, DTYPE, w1, 128, LaneTeam, 1)         \
  OPWEAVE_RMS_VARIANT(STEM, OPERATION, DTYPE, w2, 128, LaneTeam, 2)         \
  OPWEAVE_RMS_VARIANT(STEM, OPERATION, DTYPE, w4, 128, LaneTeam, 4)         \
  OPWEAVE_RMS_VARIANT(STEM, OPERATION, DTYPE, v1, 1024, BlockTeam, 1)       \
  OPWEAVE_RMS_VARIANT(STEM, OPERATION, DTYPE, v2, V2_BLOCK, BlockTeam, 2)   \
  OPWEAVE_RMS_VARIANT(STEM, OPERATION, DTYPE, v4, V4_BLOCK, BlockTeam, 4)   \
  OPWEAVE_NORM_ENTRY(STEM, DTYPE, loop, 1024, (opweave::loop_rows<opweave::OPERATION<opweave::DTYPE>>(p)))

}  // namespace opweave
