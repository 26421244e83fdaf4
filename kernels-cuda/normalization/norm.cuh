// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What the kernels of this family share: whose row it is, and its parameters by column.

#pragma once

#include <opweave/launch.cuh>
#include <opweave/memory.cuh>
#include <opweave/norm_params.cuh>
#include <opweave/reduce.cuh>
#include <opweave/root.cuh>

namespace opweave {

// Row and first column of a segment, which is what is normalised together: a row, or a group of a row.
struct Place {
  int64_t row;
  int64_t column;
};
template <bool GROUPED>
__device__ __forceinline__ Place place_of(const NormParams& p, int64_t segment) {
  if (!GROUPED || p.groups == 1) return Place{segment, 0};
  const int64_t row = segment / p.groups;
  return Place{row, (segment - row * p.groups) * p.width};
}

// The segments that a block takes.
template <class TEAM, bool GROUPED>
struct Segments : Turns<TEAM> {
  explicit __device__ __forceinline__ Segments(const NormParams& p) : Turns<TEAM>(GROUPED ? p.rows * p.groups : p.rows) {}
};

template <class T>
__device__ __forceinline__ const T* at(const void* base, int64_t row, int64_t stride, int64_t column) {
  return static_cast<const T*>(base) + (row * stride + column);
}
template <class T>
__device__ __forceinline__ T* at(void* base, int64_t row, int64_t stride, int64_t column) {
  return static_cast<T*>(base) + (row * stride + column);
}

// Whether parameters are read before the row, and kept from row to row: then they may come while the kernel before still runs, and
// nothing waits for them after the sum. Threads with many packs are those of many rows: there the registers are worth more, as
// room for rows that are on their way, and parameters are found in L1.
template <int PACKS>
inline constexpr bool PARAMETERS_EARLY = PACKS < 4;

// Packs that a thread adds up in f32 before f64 takes them up, so that the error of a sum does not grow with the width.
inline constexpr int FLUSH = 16;

// The sum of f(i) over a row that is done in f64. `LONG` rows have more elements than registers hold; the order of theirs may
// depend on the block, as all of their sums do.
template <bool LONG, class TEAM, class F>
__device__ __forceinline__ double exact_sum(const TEAM& team, int64_t width, double (&scratch)[32], F f) {
  if constexpr (!LONG) return slot_sum_f64(team, width, f);
  double sum = 0;
#pragma unroll 1
  for (int64_t i = team.rank; i < width; i += team.size) sum += f(i);
  return sum_f64(team, sum, scratch);
}

// A parameter by column, weight or bias: of T, of f32, or absent.
template <class T, uint32_t IS_SAME, uint32_t IS_F32>
struct ByColumn {
  // The pack of T's at `column`, for those who want it early; nothing where the parameter is not of T.
  template <int N>
  static __device__ __forceinline__ Pack<T, N> early(const NormParams& p, const void* base, int64_t column) {
    return p.flags & IS_SAME ? Pack<T, N>::shared(static_cast<const T*>(base) + column) : Pack<T, N>::zero();
  }

  // Its values, from the early pack or from memory; false where it is absent.
  template <int N>
  static __device__ __forceinline__ bool values(
      const NormParams& p, const void* base, const Pack<T, N>& early, int64_t column, float (&v)[N]) {
    if (p.flags & IS_SAME) {
      early.unpack(v);
      return true;
    }
    if (p.flags & IS_F32) {
      load_f32<N>(static_cast<const float*>(base) + column, v);
      return true;
    }
    return false;
  }

  // One value, for rows that are done in f64; `absent` where there is none.
  static __device__ __forceinline__ double value(const NormParams& p, const void* base, int64_t column, double absent) {
    if (p.flags & IS_SAME) return to_f32(load_element(static_cast<const T*>(base) + column));
    if (p.flags & IS_F32) return load_element(static_cast<const float*>(base) + column);
    return absent;
  }
};
template <class T>
using Weight = ByColumn<T, WEIGHT_SAME, WEIGHT_F32>;
template <class T>
using Bias = ByColumn<T, BIAS_SAME, BIAS_F32>;

// The entries of one dtype: `opweave_STEM_DTYPE_SUFFIX`. The descriptions (`*.toml`) list the same variants.
#define OPWEAVE_NORM_ENTRY(STEM, DTYPE, SUFFIX, BLOCK, BODY)                                          \
  extern "C" __global__ void __launch_bounds__(BLOCK, 1)                                                \
      opweave_##STEM##_##DTYPE##_##SUFFIX(const __grid_constant__ opweave::NormParams p) {           \
    BODY;                                                                                            \
  }

}  // namespace opweave
