// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// A row as it stands.

#pragma once

#include "rms.cuh"

namespace opweave {

template <class T_, class STATISTIC, bool HAS_WEIGHT>
struct Plain {
  using T = T_;
  using Statistic = STATISTIC;
  static constexpr bool WEIGHTED = HAS_WEIGHT;
  static constexpr bool GROUPED = false;

  struct Row {
    Place place;
    const T* input;
    T* out;
    __device__ __forceinline__ Row(const NormParams& p, Place place)
        : place(place), input(at<T>(p.input, place.row, p.input_stride, 0)), out(at<T>(p.out, place.row, p.out_stride, 0)) {}
    __device__ __forceinline__ void have() { ptx::have(input), ptx::have(out); }
  };

  // Kept as it came: to unpack it twice costs less than registers for the values.
  template <int N>
  struct Held {
    Pack<T, N> pack;
    __device__ __forceinline__ void read(const Row& row, int64_t i) { pack = Pack<T, N>::once(row.input + i); }
    __device__ __forceinline__ void clear() { pack = Pack<T, N>::zero(); }
    __device__ __forceinline__ void prepare(const NormParams&) {}
    __device__ __forceinline__ void values(float (&v)[N]) const { pack.unpack(v); }
    __device__ __forceinline__ void rest() { pack.forget_values(); }
    __device__ __forceinline__ void keep(const Row&, int64_t, bool) const {}
    __device__ __forceinline__ void finish(const NormParams&, float (&)[N]) const {}
  };

  static __device__ __forceinline__ bool inverse(const NormParams& p, float sum, float& r) { return Statistic::inverse(p, sum, r); }
  static __device__ __forceinline__ double value(const NormParams&, const Row& row, int64_t i) { return to_f32(load_element(row.input + i)); }
  static __device__ __forceinline__ void keep_value(const Row&, int64_t, double) {}
  static __device__ __forceinline__ double finish_value(const NormParams&, const Row&, int64_t, double y) { return y; }
};

template <class T>
using RmsNorm = Plain<T, RootMeanSquare, true>;

}  // namespace opweave
