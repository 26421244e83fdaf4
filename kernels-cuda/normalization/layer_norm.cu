// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// layer_norm: out = (input - mean) * rsqrt(variance + epsilon) * weight + bias
//
// Nothing is ever summed that is not near zero: the variance of 10000, 10001, ... cannot be had from sums of squares, and the
// mean of such numbers in f32 is itself off by a good part of a unit. The mean of the row's first chunk, which each warp finds
// for itself, is a provisional centre c; one pass through the team sums d = x - c and d^2. The mean of d corrects the centre,
// and the variance is mean(d^2) - mean(d)^2, provided that the correction is small beside it. Where it is not, because the
// row begins unlike the rest of it, the sums are taken again, out of the same registers, around the mean that they gave.

#include "norm.cuh"

namespace opweave {

// The largest part of the mean square that the correction may take away: it costs less than half a bit of the variance.
inline constexpr float LARGEST_CORRECTION = 0.25f;

template <class T_>
struct LayerNorm {
  using T = T_;
  struct Row {
    const T* input;
    T* out;
    __device__ __forceinline__ Row(const NormParams& p, int64_t row)
        : input(at<T>(p.input, row, p.input_stride, 0)), out(at<T>(p.out, row, p.out_stride, 0)) {}
  };
};

// How a row is brought to mean 0 and variance 1: (x - centre) * inverse + shift.
struct Centre {
  float centre;
  float inverse;
  float shift;

  // From the means of d and d^2 around `centre`; false if f32 cannot do it, or not from here.
  __device__ __forceinline__ bool settle(const NormParams& p, float rest, float square) {
    const float argument = fmaf(-rest, rest, square) + p.epsilon;
    inverse = reciprocal_root(argument);
    shift = -rest * inverse;
    return trusted(argument) && square <= LARGEST && rest * rest <= LARGEST_CORRECTION * square;
  }
};

// The sum of a pack's values, by halves.
template <int N>
__device__ __forceinline__ float plain_sum(const float (&v)[N]) {
  float s[N];
#pragma unroll
  for (int i = 0; i < N; i++) s[i] = v[i];
#pragma unroll
  for (int n = N / 2; n > 0; n /= 2) {
#pragma unroll
    for (int i = 0; i < n; i++) s[i] += s[i + n];
  }
  return s[0];
}

// The sums of d = x - centre and of d^2 over one pack.
template <class T, int N>
__device__ __forceinline__ void moments(const Pack<T, N>& pack, float centre, float& sum, float& square) {
  float d[N], q[N];
  pack.unpack(d);
#pragma unroll
  for (int e = 0; e < N; e++) {
    d[e] -= centre;
    q[e] = d[e] * d[e];
  }
  sum = plain_sum(d);
  square = plain_sum(q);
}

// The provisional centre: the mean of the first chunk, of which each lane holds one pack, or none if it is not `valid`. Taken
// around the first element, so that it too sums what is near zero. `width` is that of a team's share of a warp.
template <class TEAM, class T, int N>
__device__ __forceinline__ float provisional_centre(
    const NormParams& p, const TEAM& team, const Pack<T, N>& pack, bool valid) {
  float v[N];
  pack.unpack(v);
  const int lanes = TEAM::IS_BLOCK ? WARP : team.size;
  const float first = __shfl_sync(ALL_LANES, v[0], 0, lanes);
#pragma unroll
  for (int e = 0; e < N; e++) v[e] = valid ? v[e] - first : 0.0f;
  const float sum = team.sum_over_lanes(plain_sum(v));
  constexpr int CHUNK = WARP * N;
  return p.width <= CHUNK ? fmaf(sum, p.inverse_width, first) : fmaf(sum, 1.0f / CHUNK, first);
}

// Writes one pack; `weight` and `bias` are the early ones.
template <class T, int N>
__device__ __forceinline__ void write_pack(
    const NormParams& p, T* out, const Pack<T, N>& pack, const Pack<T, N>& weight, const Pack<T, N>& bias, int64_t i,
    const Centre& c) {
  float y[N], w[N], b[N];
  pack.unpack(y);
#pragma unroll
  for (int e = 0; e < N; e++) y[e] = fmaf(y[e] - c.centre, c.inverse, c.shift);
  const bool weighted = Weight<T>::template values<N>(p, p.weight, weight, i, w);
  // Where there is no bias nothing is added: adding zero would change the sign of a zero.
  if (Bias<T>::template values<N>(p, p.bias, bias, i, b)) {
#pragma unroll
    for (int e = 0; e < N; e++) y[e] = weighted ? fmaf(y[e], w[e], b[e]) : y[e] + b[e];
  } else if (weighted) {
#pragma unroll
    for (int e = 0; e < N; e++) y[e] *= w[e];
  }
  Pack<T, N>::of(y).store_to(out + i, p.flags & STREAM);
}

// A whole row in f64, if it is `wanted`. Nothing of it was written yet. Rare, so kept small: no unrolling.
template <bool LONG, class T, class TEAM>
__device__ __forceinline__ void exact_row(
    const NormParams& p, const TEAM& team, const T* input, T* out, bool wanted, double (&scratch)[32]) {
  const int64_t width = wanted ? p.width : 0;
  const double n = static_cast<double>(p.width);
  const auto value = [&](int64_t i) { return static_cast<double>(to_f32(load_element(input + i))); };
  const double mean = exact_sum<LONG>(team, width, scratch, value) / n;
  const double square = exact_sum<LONG>(team, width, scratch, [&](int64_t i) {
    const double d = value(i) - mean;
    return d * d;
  });
  const double inverse = 1.0 / sqrt(square / n + static_cast<double>(p.epsilon));
#pragma unroll 1
  for (int64_t i = team.rank; i < width; i += team.size) {
    double y = (value(i) - mean) * inverse * Weight<T>::value(p, p.weight, i, 1.0);
    if (p.flags & (BIAS_SAME | BIAS_F32)) y += Bias<T>::value(p, p.bias, i, 0.0);
    store_element(out + i, round_f64<T>(y));
  }
}

// Rows of at most PACKS vectors in each thread of a team.
template <class TEAM, class T, int PACKS>
__device__ __forceinline__ void layer_norm_rows(const NormParams& p) {
  constexpr int N = VECTOR_OF<T>;
  using P = Pack<T, N>;
  __shared__ typename RowSums<TEAM, 2, PACKS>::Scratch scratch;
  __shared__ double exact_scratch[32];

  launch_dependents();
  const TEAM team;
  const unsigned vectors = static_cast<unsigned>(static_cast<uint64_t>(p.width) / N);
  RowSums<TEAM, 2, PACKS> row_sums(scratch, vectors);

  P weight[PACKS], bias[PACKS];
  auto read_parameters = [&] {
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const unsigned v = team.rank + k * team.size;
      weight[k] = bias[k] = P::zero();
      if (v < vectors) {
        weight[k] = Weight<T>::template early<N>(p, p.weight, int64_t{v} * N);
        bias[k] = Bias<T>::template early<N>(p, p.bias, int64_t{v} * N);
      }
    }
  };
  constexpr bool EARLY = PARAMETERS_EARLY<PACKS>;
  const bool ready = p.flags & PARAMETERS_READY;
  if (EARLY && ready) read_parameters();
  wait_for_predecessors();
  if (EARLY && !ready) read_parameters();

  for (Segments<TEAM, false> segments(p); segments.more(); segments.advance()) {
    const bool active = TEAM::IS_BLOCK || segments.mine() < segments.end;
    const typename LayerNorm<T>::Row row(p, segments.mine());
    P held[PACKS], first = P::zero();
    bool first_valid;
    if constexpr (TEAM::IS_BLOCK) {
      first_valid = team.lane < vectors;
      if (first_valid) first = P::shared(row.input + team.lane * N);
    }
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const unsigned v = team.rank + k * team.size;
      held[k] = active && v < vectors ? P::once(row.input + int64_t{v} * N) : P::zero();
    }
    if constexpr (!TEAM::IS_BLOCK) {
      first_valid = team.rank < vectors;
      first = held[0];
    }
    Centre c;
    c.centre = provisional_centre(p, team, first, first_valid);
    bool good = false;
    // Twice at most: the second centre is the mean itself.
#pragma unroll 1
    for (int round = 0; round < 2; round++) {
      float part[2 * PACKS], total[2];
#pragma unroll
      for (int k = 0; k < PACKS; k++) {
        part[k] = part[PACKS + k] = 0;
        if (team.rank + k * team.size < vectors) moments(held[k], c.centre, part[k], part[PACKS + k]);
        held[k].forget_values();
      }
      row_sums(team, part, total);
      const float rest = total[0] * p.inverse_width;
      good = c.settle(p, rest, total[1] * p.inverse_width);
      // Teams of a warp go on together; one that has settled comes to the same result again.
      if (!team.any_in_warp(active && !good)) break;
      if (!good) c.centre += rest;
    }
    if (team.any_in_warp(active && !good)) exact_row<false, T>(p, team, row.input, row.out, active && !good, exact_scratch);
    if (!active || !good) continue;
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
      const unsigned v = team.rank + k * team.size;
      if (v >= vectors) continue;
      if constexpr (EARLY) {
        weight[k].forget_values();
        bias[k].forget_values();
        write_pack<T, N>(p, row.out, held[k], weight[k], bias[k], int64_t{v} * N, c);
      } else {
        const P w = Weight<T>::template early<N>(p, p.weight, int64_t{v} * N);
        const P b = Bias<T>::template early<N>(p, p.bias, int64_t{v} * N);
        write_pack<T, N>(p, row.out, held[k], w, b, int64_t{v} * N, c);
      }
    }
  }
}

// Rows of any width, in packs of N: read twice or three times, all but the first from a cache if they fit there.
template <class T, int N>
__device__ __forceinline__ void layer_norm_loop(const NormParams& p, double (&scratch)[32]) {
  using P = Pack<T, N>;
  const BlockTeam team;
  const int64_t packs = p.width / N;
  for (Segments<BlockTeam, false> segments(p); segments.more(); segments.advance()) {
    const typename LayerNorm<T>::Row row(p, segments.mine());
    const bool first_valid = team.lane < packs;
    Centre c;
    c.centre = provisional_centre(p, team, first_valid ? P::shared(row.input + team.lane * N) : P::zero(), first_valid);
    bool good = false;
#pragma unroll 1
    for (int round = 0; round < 2 && !good; round++) {
      double sum = 0, square = 0;
      float block_sum = 0, block_square = 0;
      int in_block = 0;
      for (int64_t i = team.rank; i < packs; i += team.size) {
        float d, q;
        moments(P::once(row.input + i * N), c.centre, d, q);
        block_sum += d;
        block_square += q;
        if (++in_block == FLUSH) {
          sum += block_sum;
          square += block_square;
          block_sum = block_square = 0;
          in_block = 0;
        }
      }
      const double n = static_cast<double>(p.width);
      const double rest = sum_f64(team, sum + block_sum, scratch) / n;
      const double squares = sum_f64(team, square + block_square, scratch) / n;
      good = c.settle(p, static_cast<float>(rest), static_cast<float>(squares));
      if (!good) c.centre += static_cast<float>(rest);
    }
    if (!good) {
      exact_row<true, T>(p, team, row.input, row.out, true, scratch);
      continue;
    }
    for (int64_t i = team.rank; i < packs; i += team.size) {
      const P pack = P::once(row.input + i * N);
      const P weight = Weight<T>::template early<N>(p, p.weight, i * N);
      const P bias = Bias<T>::template early<N>(p, p.bias, i * N);
      write_pack<T, N>(p, row.out, pack, weight, bias, i * N, c);
    }
  }
}

template <class T>
__device__ __forceinline__ void layer_norm_any(const NormParams& p) {
  __shared__ double scratch[32];
  launch_dependents();
  wait_for_predecessors();
  if (p.flags & VECTOR) {
    layer_norm_loop<T, VECTOR_OF<T>>(p, scratch);
  } else {
    layer_norm_loop<T, 1>(p, scratch);
  }
}

}  // namespace opweave

#define OPWEAVE_LAYER_NORM_VARIANT(DTYPE, SUFFIX, BLOCK, TEAM, PACKS) \
  OPWEAVE_NORM_ENTRY(layer_norm, DTYPE, SUFFIX, BLOCK, (opweave::layer_norm_rows<opweave::TEAM, opweave::DTYPE, PACKS>(p)))
#define OPWEAVE_LAYER_NORM_ENTRIES(DTYPE)                    \
  OPWEAVE_LAYER_NORM_VARIANT(DTYPE, w1, 128, LaneTeam, 1)    \
  OPWEAVE_LAYER_NORM_VARIANT(DTYPE, w2, 128, LaneTeam, 2)    \
  OPWEAVE_LAYER_NORM_VARIANT(DTYPE, w4, 128, LaneTeam, 4)    \
  OPWEAVE_LAYER_NORM_VARIANT(DTYPE, v1, 1024, BlockTeam, 1)  \
  OPWEAVE_LAYER_NORM_VARIANT(DTYPE, v2, 512, BlockTeam, 2)   \
  OPWEAVE_LAYER_NORM_VARIANT(DTYPE, v4, 896, BlockTeam, 4)   \
  OPWEAVE_NORM_ENTRY(layer_norm, DTYPE, loop, 1024, (opweave::layer_norm_any<opweave::DTYPE>(p)))

OPWEAVE_LAYER_NORM_ENTRIES(f32)
OPWEAVE_LAYER_NORM_ENTRIES(f16)
OPWEAVE_LAYER_NORM_ENTRIES(bf16)
