// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// rms_norm_gated, by groups of columns:
//   norm_then_gate: out = norm(input) * weight * gate(z)
//   gate_then_norm: out = norm(input * gate(z)) * weight (flag GATE_THEN_NORM)

#include "rms.cuh"

namespace opweave {

// v * gate(z): silu is z * sigmoid(z). Of e^-|z| alone, which is at most 1, so neither tail overflows; the division by 1 + that
// is of a number in [1, 2] and needs no care. The exponential is not the fast one: that loses 8 bits at z = -80.
__device__ __forceinline__ float times_gate(const NormParams& p, float v, float z) {
  const float t = expf(-fabsf(z));
  const float d = 1.0f + t;
  float r = ptx::reciprocal(d);
  r = fmaf(r, fmaf(-d, r, 1.0f), r);
  const float sigmoid = (z < 0 ? t : 1.0f) * r;  // NaN stays one: d is NaN then
  return v * (p.flags & GATE_SIGMOID ? sigmoid : z * sigmoid);
}

__device__ __forceinline__ double gate_f64(const NormParams& p, double z) {
  const double d = 1.0 + exp(-z);  // an infinity gives the right limit, 0
  return (p.flags & GATE_SIGMOID ? 1.0 : z) / d;
}

template <class T_>
struct Gated {
  using T = T_;
  using Statistic = RootMeanSquare;
  static constexpr bool WEIGHTED = true;
  static constexpr bool GROUPED = true;

  struct Row {
    Place place;
    const T* input;
    const T* gate;
    T* out;
    __device__ __forceinline__ Row(const NormParams& p, Place place)
        : place(place),
          input(at<T>(p.input, place.row, p.input_stride, place.column)),
          gate(at<T>(p.gate, place.row, p.gate_stride, place.column)),
          out(at<T>(p.out, place.row, p.out_stride, place.column)) {}
    __device__ __forceinline__ void have() { ptx::have(input), ptx::have(gate), ptx::have(out); }
  };

  template <int N>
  struct Held {
    Pack<T, N> input, gate;
    float v[N];
    __device__ __forceinline__ void read(const Row& row, int64_t i) {
      input = Pack<T, N>::once(row.input + i);
      gate = Pack<T, N>::once(row.gate + i);
    }
    __device__ __forceinline__ void clear() { input = gate = Pack<T, N>::zero(); }
    __device__ __forceinline__ void prepare(const NormParams& p) {
      input.unpack(v);
      if (p.flags & GATE_THEN_NORM) times_gates(p, v);
    }
    __device__ __forceinline__ void values(float (&out)[N]) const {
#pragma unroll
      for (int e = 0; e < N; e++) out[e] = v[e];
    }
    __device__ __forceinline__ void rest() {}
    __device__ __forceinline__ void keep(const Row&, int64_t, bool) const {}
    __device__ __forceinline__ void finish(const NormParams& p, float (&y)[N]) const {
      if (p.flags & GATE_THEN_NORM) return;
      if (p.flags & ROUND_NORMALISED) round_values<T>(y);
      times_gates(p, y);
    }
    __device__ __forceinline__ void times_gates(const NormParams& p, float (&y)[N]) const {
      float z[N];
      gate.unpack(z);
#pragma unroll
      for (int e = 0; e < N; e++) y[e] = times_gate(p, y[e], z[e]);
    }
  };

  // Products are rounded coarsely, or to zero, below f32's normal range: then epsilon must not hide that the sum is nothing.
  static __device__ __forceinline__ bool inverse(const NormParams& p, float sum, float& r) {
    const bool vanishing = (p.flags & GATE_THEN_NORM) && sum * p.inverse_width < TRUSTED_FROM;
    return Statistic::inverse(p, sum, r) && !vanishing;
  }
  static __device__ __forceinline__ double value(const NormParams& p, const Row& row, int64_t i) {
    const double v = to_f32(load_element(row.input + i));
    return p.flags & GATE_THEN_NORM ? v * gate_f64(p, to_f32(load_element(row.gate + i))) : v;
  }
  static __device__ __forceinline__ void keep_value(const Row&, int64_t, double) {}
  static __device__ __forceinline__ double finish_value(const NormParams& p, const Row& row, int64_t i, double y) {
    if (p.flags & GATE_THEN_NORM) return y;
    if (p.flags & ROUND_NORMALISED) y = to_f32(round_f64<T>(y));
    return y * gate_f64(p, to_f32(load_element(row.gate + i)));
  }
};

}  // namespace opweave

OPWEAVE_RMS_ENTRIES(rms_norm_gated, Gated, f32, 512, 512)
OPWEAVE_RMS_ENTRIES(rms_norm_gated, Gated, f16, 512, 512)
OPWEAVE_RMS_ENTRIES(rms_norm_gated, Gated, bf16, 512, 512)
