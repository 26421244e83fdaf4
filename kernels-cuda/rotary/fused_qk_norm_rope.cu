// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// fused_qk_norm_rope: each query and key head x becomes x * rsqrt(mean(x^2) + epsilon) * weight, and its pairs are turned.
//
// x lanes of a warp share a head and a block has y of them. A lane holds one unit of what is turned and REST packs of what is
// not. Heads that f32 cannot do, and heads of any other form, are done by a whole warp, one after the other.

#include <opweave/reduce.cuh>
#include <opweave/root.cuh>

#include "rotary.cuh"

namespace opweave {

__device__ __forceinline__ const void* weight_of(const RotaryParams& p, unsigned head) {
  return head < p.q_heads ? p.q_weight : p.k_weight;
}

// N weights from feature i on; false where there are none.
template <class T, int N>
__device__ __forceinline__ bool head_weights(const RotaryParams& p, const void* weight, unsigned i, float (&w)[N]) {
  if (p.flags & HEAD_WEIGHT_SAME) {
    Pack<T, N>::shared(static_cast<const T*>(weight) + i).unpack(w);
    return true;
  }
  if (p.flags & HEAD_WEIGHT_F32) {
    load_f32<N>(static_cast<const float*>(weight) + i, w);
    return true;
  }
  return false;
}

// A pack, normalised: as the norm writes it where the mode says so.
template <class T, int N>
__device__ __forceinline__ void normalise(const RotaryParams& p, const void* weight, unsigned i, float inverse, float (&v)[N]) {
  float w[N];
#pragma unroll
  for (int e = 0; e < N; e++) v[e] *= inverse;
  if (head_weights<T, N>(p, weight, i, w)) {
#pragma unroll
    for (int e = 0; e < N; e++) v[e] *= w[e];
  }
  if (p.flags & ROUND_HEAD) round_values<T>(v);
}

__device__ __forceinline__ bool head_inverse(const RotaryParams& p, float sum, float& inverse) {
  const float argument = fmaf(sum, p.inverse_width, p.epsilon);
  inverse = reciprocal_root(argument);
  return trusted(argument);
}

// A head in f64, if it is `wanted`, by the lanes of a team; nothing of it was written yet. A pair is read and written by one
// lane. Rare, or of no common form, so kept small: no unrolling.
template <class T>
__device__ __forceinline__ void exact_head(
    const RotaryParams& p, const LaneTeam& team, T* x, const void* weight, int64_t position, bool wanted) {
  const unsigned width = wanted ? p.head_dim : 0, rotary_dim = wanted ? p.rotary_dim : 0, pairs = rotary_dim / 2;
  const double sum = slot_sum_f64(team, width, [&](int64_t i) {
    const double v = to_f32(load_element(x + i));
    return v * v;
  });
  const double inverse = 1.0 / sqrt(sum / static_cast<double>(p.head_dim) + static_cast<double>(p.epsilon));
  const auto value = [&](unsigned i) {
    double y = static_cast<double>(to_f32(load_element(x + i))) * inverse;
    if (p.flags & HEAD_WEIGHT_SAME) y *= static_cast<double>(to_f32(load_element(static_cast<const T*>(weight) + i)));
    if (p.flags & HEAD_WEIGHT_F32) y *= static_cast<double>(load_element(static_cast<const float*>(weight) + i));
    return p.flags & ROUND_HEAD ? static_cast<double>(to_f32(round_f64<T>(y))) : y;
  };
#pragma unroll 1
  for (unsigned pair = team.rank; pair < pairs; pair += team.size) {
    unsigned low, high;
    offsets<1>(p, pair, low, high);
    Angles<T, 1> angles;
    angles.load(p, position, pair);
    const double a = value(low), b = value(high), cosine = angles.cosine[0], sine = angles.sine[0];
    store_element(x + low, round_f64<T>(a * cosine - b * sine));
    store_element(x + high, round_f64<T>(b * cosine + a * sine));
  }
#pragma unroll 1
  for (unsigned i = rotary_dim + team.rank; i < width; i += team.size) store_element(x + i, round_f64<T>(value(i)));
}

// Heads whose lanes hold all of them: at most one unit and REST packs each.
template <class T, int REST>
__device__ __forceinline__ void held_heads(const RotaryParams& p) {
  constexpr int N = VECTOR_OF<T>;
  launch_dependents();
  wait_for_predecessors();
  const LaneTeam team;
  const unsigned units = p.rotary_dim / 2 / N, rest = p.head_dim / N - 2 * units;
  const unsigned heads = p.q_heads + p.k_heads, step = p.parts * blockDim.y;
  const unsigned low = team.rank * N, high = p.rotary_dim / 2 + low;
  const bool turns = team.rank < units;
  for (Tokens tokens(p); tokens.more(); tokens.advance()) {
    const Position position(p, tokens.token);
    Angles<T, N> angles;
    bool loaded = false;
    // All teams of a block go through it together; the last time some may have no head.
    for (unsigned first = tokens.part * blockDim.y; first < heads; first += step) {
      const unsigned number = first + threadIdx.y;
      const bool active = number < heads;
      T* x = head_of<T>(p, tokens.token, active ? number : 0);
      const void* weight = weight_of(p, number);
      Pack<T, N> a = Pack<T, N>::zero(), b = a, others[REST > 0 ? REST : 1];
      if (active && turns) {
        a = Pack<T, N>::once(x + low);
        b = Pack<T, N>::once(x + high);
      }
#pragma unroll
      for (int k = 0; k < REST; k++) {
        const unsigned pack = team.rank + k * team.size;
        others[k] = active && pack < rest ? Pack<T, N>::once(x + p.rotary_dim + pack * N) : Pack<T, N>::zero();
      }
      if (!loaded) {
        // The whole block is of one token.
        if (!position.inside(p, tokens)) break;
        if (turns) angles.load(p, position.value(p), team.rank);
        loaded = true;
      }
      float v[N], w[N];
      a.unpack(v);
      b.unpack(w);
      float sum = squares(v) + squares(w);
#pragma unroll
      for (int k = 0; k < REST; k++) {
        float o[N];
        others[k].unpack(o);
        sum += squares(o);
      }
      float inverse;
      const bool good = head_inverse(p, team.sum_over_lanes(sum), inverse);
      if (team.any_in_warp(active && !good)) exact_head<T>(p, team, x, weight, position.value(p), active && !good);
      if (!active || !good) continue;
      if (turns) {
        normalise<T, N>(p, weight, low, inverse, v);
        normalise<T, N>(p, weight, high, inverse, w);
        turn<T, N>(p, angles, v, w);
        Pack<T, N>::of(v).store_to(x + low, false);
        Pack<T, N>::of(w).store_to(x + high, false);
      }
#pragma unroll
      for (int k = 0; k < REST; k++) {
        const unsigned pack = team.rank + k * team.size;
        if (pack >= rest) continue;
        float o[N];
        others[k].unpack(o);
        normalise<T, N>(p, weight, p.rotary_dim + pack * N, inverse, o);
        Pack<T, N>::of(o).store_to(x + p.rotary_dim + pack * N, false);
      }
    }
  }
}

// Heads of any form, a warp to each, one feature or pair to a lane at a time.
template <class T>
__device__ __forceinline__ void any_heads(const RotaryParams& p) {
  launch_dependents();
  wait_for_predecessors();
  const LaneTeam team;
  const unsigned heads = p.q_heads + p.k_heads, step = p.parts * blockDim.y, pairs = p.rotary_dim / 2;
  for (Tokens tokens(p); tokens.more(); tokens.advance()) {
    const Position position(p, tokens.token);
    if (!position.inside(p, tokens)) continue;
    for (unsigned number = tokens.part * blockDim.y + threadIdx.y; number < heads; number += step) {
      T* x = head_of<T>(p, tokens.token, number);
      const void* weight = weight_of(p, number);
      double sum = 0;
      float block = 0;
      unsigned in_block = 0;
#pragma unroll 4
      for (unsigned i = team.rank; i < p.head_dim; i += WARP) {
        const float v = to_f32(load_element(x + i));
        block = fmaf(v, v, block);
        if (++in_block == 16) {
          sum += block;  // so that the error of a sum does not grow with the width
          block = 0;
          in_block = 0;
        }
      }
      float inverse;
      if (!head_inverse(p, static_cast<float>(team.sum_over_lanes(sum + block)), inverse)) {
        exact_head<T>(p, team, x, weight, position.value(p), true);
        continue;
      }
      const auto value = [&](unsigned i) {
        float v[1] = {to_f32(load_element(x + i))};
        normalise<T, 1>(p, weight, i, inverse, v);
        return v[0];
      };
      for (unsigned pair = team.rank; pair < pairs; pair += WARP) {
        unsigned low, high;
        offsets<1>(p, pair, low, high);
        Angles<T, 1> angles;
        angles.load(p, position.value(p), pair);
        float v[1] = {value(low)}, w[1] = {value(high)};
        turn<T, 1>(p, angles, v, w);
        Pack<T, 1>::of(v).store_to(x + low, false);
        Pack<T, 1>::of(w).store_to(x + high, false);
      }
      for (unsigned i = p.rotary_dim + team.rank; i < p.head_dim; i += WARP) {
        float v[1] = {value(i)};
        Pack<T, 1>::of(v).store_to(x + i, false);
      }
      __syncwarp();
    }
  }
}

}  // namespace opweave

#define OPWEAVE_QK_ENTRY(DTYPE, SUFFIX, BODY)                                                                \
  extern "C" __global__ void __launch_bounds__(256, 1)                                                       \
      opweave_fused_qk_norm_rope_##DTYPE##_##SUFFIX(const __grid_constant__ opweave::RotaryParams p) {       \
    BODY;                                                                                                    \
  }
#define OPWEAVE_QK_ENTRIES(DTYPE)                                          \
  OPWEAVE_QK_ENTRY(DTYPE, whole, (opweave::held_heads<opweave::DTYPE, 0>(p))) \
  OPWEAVE_QK_ENTRY(DTYPE, part, (opweave::held_heads<opweave::DTYPE, 2>(p)))  \
  OPWEAVE_QK_ENTRY(DTYPE, any, (opweave::any_heads<opweave::DTYPE>(p)))

OPWEAVE_QK_ENTRIES(f32)
OPWEAVE_QK_ENTRIES(f16)
OPWEAVE_QK_ENTRIES(bf16)
