// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// The sum of a row and its residual.

#pragma once

#include "rms.cuh"

namespace opweave {

template <class T_>
struct FusedAdd {
  using T = T_;
  using Statistic = RootMeanSquare;
  static constexpr bool WEIGHTED = true;
  static constexpr bool GROUPED = false;

  struct Row {
    Place place;
    const T* input;
    T* residual;
    T* out;
    __device__ __forceinline__ Row(const NormParams& p, Place place)
        : place(place),
          input(at<T>(p.input, place.row, p.input_stride, 0)),
          residual(at<T>(p.residual, place.row, p.residual_stride, 0)),
          out(at<T>(p.out, place.row, p.out_stride, 0)) {}
    __device__ __forceinline__ void have() { ptx::have(input), ptx::have(residual), ptx::have(out); }
  };

  // The sum in f32, or as it is stored (flag ROUND_SUM). The residual is written when the statistic has been found good:
  // until then a row may still have to be done again from the old residual.
  template <int N>
  struct Held {
    Pack<T, N> input, residual;
    float sum[N];
    __device__ __forceinline__ void read(const Row& row, int64_t i) {
      input = Pack<T, N>::once(row.input + i);
      residual = Pack<T, N>::once(row.residual + i);
    }
    __device__ __forceinline__ void clear() { input = residual = Pack<T, N>::zero(); }
    // Apart from `read`, so that all loads are on their way before the first is waited for.
    __device__ __forceinline__ void prepare(const NormParams& p) {
      float r[N];
      input.unpack(sum);
      residual.unpack(r);
#pragma unroll
      for (int e = 0; e < N; e++) sum[e] += r[e];
      if (p.flags & ROUND_SUM) round_values<T>(sum);
    }
    __device__ __forceinline__ void values(float (&v)[N]) const {
#pragma unroll
      for (int e = 0; e < N; e++) v[e] = sum[e];
    }
    __device__ __forceinline__ void rest() {}
    __device__ __forceinline__ void keep(const Row& row, int64_t i, bool stream) const {
      Pack<T, N>::of(sum).store_to(row.residual + i, stream);
    }
    __device__ __forceinline__ void finish(const NormParams&, float (&)[N]) const {}
  };

  static __device__ __forceinline__ bool inverse(const NormParams& p, float sum, float& r) { return Statistic::inverse(p, sum, r); }
  static __device__ __forceinline__ double value(const NormParams& p, const Row& row, int64_t i) {
    const double sum = static_cast<double>(to_f32(load_element(row.input + i))) + to_f32(load_element(row.residual + i));
    return p.flags & ROUND_SUM ? to_f32(round_f64<T>(sum)) : sum;
  }
  static __device__ __forceinline__ void keep_value(const Row& row, int64_t i, double v) { store_element(row.residual + i, round_f64<T>(v)); }
  static __device__ __forceinline__ double finish_value(const NormParams&, const Row&, int64_t, double y) { return y; }
};

}  // namespace opweave
