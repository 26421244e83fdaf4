// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// quantize_per_tensor: out = saturate(round(input / scale) + zero_point), element by element, with one scale for all.
//
// A row is cut into tiles of blockDim.x * PACKS packs, and a block takes one. Rows without gaps are one row.

#include <opweave/launch.cuh>
#include <opweave/quantize.cuh>

namespace opweave {

// Positions in the operation's list of faults.
enum QuantFault : uint32_t { BAD_SCALE = 0, BAD_ZERO_POINT = 1 };

// The scale of a call; NaN, which makes every code that of NaN, where scale or zero point is outside its range. The first
// thread says so.
__device__ __forceinline__ float checked_scale(const QuantParams& p, int32_t zero_point) {
  const float scale = load_element(static_cast<const float*>(p.code.scale));
  const bool bad_scale = !(scale > 0 && __float_as_uint(scale) < INFINITE);
  const bool bad_zero_point = zero_point < -128 || zero_point > 127;
  if (!bad_scale && !bad_zero_point) return scale;
  if (blockIdx.x == 0 && threadIdx.x == 0) raise_fault(p.faults, p.operation, bad_scale ? BAD_SCALE : BAD_ZERO_POINT, 0);
  return __uint_as_float(0x7fc00000u);
}

// The codes of one pack.
template <int N>
__device__ __forceinline__ void quantize_pack(
    const QuantParams& p, const Quotients& quotients, float zero_point, float (&v)[N], uint8_t* out) {
  quotients.prepare(v);
  // What is further out has the last code as well; of an infinity the remainder would be NaN.
  const float bound = quotients.divisor * 0x1p17f;
#pragma unroll
  for (int e = 0; e < N; e++) v[e] = quotients.of(ptx::smaller(ptx::larger(v[e], -bound), bound));
  if (p.zero_point != nullptr) {
    // Both are integers, and what is too large for their sum to be exact saturates.
#pragma unroll
    for (int e = 0; e < N; e++) v[e] = rintf(v[e]) + zero_point;
  }
  write_codes(p.code.flags, v, out, p.flags & QUANT_STREAM);
}

// One tile of a row, in packs of N; the last elements of a row that are no whole pack go one by one.
template <class T, int PACKS, int N>
__device__ __forceinline__ void quantize_tile(const QuantParams& p) {
  const int64_t packs = p.width / N, per_tile = int64_t{blockDim.x} * PACKS;
  // One more pack for the rest.
  const int64_t tiles = (packs + (packs * N < p.width) + per_tile - 1) / per_tile;
  const int64_t row = p.rows == 1 ? 0 : blockIdx.x / tiles;
  const int64_t first = (blockIdx.x - row * tiles) * per_tile + threadIdx.x;
  const T* input = static_cast<const T*>(p.input) + row * p.input_stride;
  uint8_t* out = p.out + row * p.out_stride;
  Pack<T, N> held[PACKS];
#pragma unroll
  for (int k = 0; k < PACKS; k++) {
    const int64_t i = first + int64_t{k} * blockDim.x;
    held[k] = i < packs ? Pack<T, N>::once(input + i * N) : Pack<T, N>::zero();
  }
  const int32_t zero_point = p.zero_point == nullptr ? 0 : static_cast<int32_t>(ptx::load_4(reinterpret_cast<const uint32_t*>(p.zero_point)));
  const Quotients quotients(checked_scale(p, zero_point));
  const float shift = static_cast<float>(zero_point);
#pragma unroll
  for (int k = 0; k < PACKS; k++) {
    const int64_t i = first + int64_t{k} * blockDim.x;
    if (i < packs) {
      float v[N];
      held[k].unpack(v);
      quantize_pack(p, quotients, shift, v, out + i * N);
    } else if (N > 1 && i == packs) {
#pragma unroll 1
      for (int64_t e = packs * N; e < p.width; e++) {
        float v[1];
        Pack<T, 1>::once(input + e).unpack(v);
        quantize_pack(p, quotients, shift, v, out + e);
      }
    }
  }
}

template <class T, int PACKS>
__device__ __forceinline__ void quantize_tiles(const QuantParams& p) {
  launch_dependents();
  wait_for_predecessors();
  if (p.flags & QUANT_VECTOR) {
    quantize_tile<T, PACKS, VECTOR_OF<T>>(p);
  } else {
    quantize_tile<T, PACKS, 1>(p);
  }
}

}  // namespace opweave

#define OPWEAVE_QUANTIZE_ENTRY(DTYPE, SUFFIX, PACKS)                                                           \
  extern "C" __global__ void __launch_bounds__(256, 1)                                                         \
      opweave_quantize_per_tensor_##DTYPE##_##SUFFIX(const __grid_constant__ opweave::QuantParams p) {         \
    opweave::quantize_tiles<opweave::DTYPE, PACKS>(p);                                                         \
  }
#define OPWEAVE_QUANTIZE_ENTRIES(DTYPE) \
  OPWEAVE_QUANTIZE_ENTRY(DTYPE, t1, 1)  \
  OPWEAVE_QUANTIZE_ENTRY(DTYPE, t4, 4)

OPWEAVE_QUANTIZE_ENTRIES(f32)
OPWEAVE_QUANTIZE_ENTRIES(f16)
OPWEAVE_QUANTIZE_ENTRIES(bf16)
