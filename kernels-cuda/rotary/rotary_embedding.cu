// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// rotary_embedding: a, b = a * cos - b * sin, b * cos + a * sin for each pair of the first rotary_dim features of every head.
//
// x threads go along the units of a head and y over the heads of a token, so that a thread reads its angles once for all of
// its heads. HEADS of them are on their way at once.

#include "rotary.cuh"

namespace opweave {

template <class T, int HEADS, int N>
__device__ __forceinline__ void turn_token(const RotaryParams& p, const Tokens& tokens) {
  const unsigned units = p.rotary_dim / 2 / N, heads = p.q_heads + p.k_heads, step = p.parts * blockDim.y;
  const Position position(p, tokens.token);
  for (unsigned unit = threadIdx.x; unit < units; unit += blockDim.x) {
    unsigned low, high;
    offsets<N>(p, unit, low, high);
    Angles<T, N> angles;
    bool loaded = false;
    for (unsigned first = tokens.part * blockDim.y + threadIdx.y; first < heads; first += HEADS * step) {
      T* head[HEADS];
      Pack<T, N> a[HEADS], b[HEADS];
#pragma unroll
      for (int h = 0; h < HEADS; h++) {
        const unsigned number = first + h * step;
        if (number >= heads) continue;
        head[h] = head_of<T>(p, tokens.token, number);
        a[h] = Pack<T, N>::once(head[h] + low);
        b[h] = Pack<T, N>::once(head[h] + high);
      }
      // Angles wait for the position, features do not: these are on their way by now.
      if (!loaded) {
        if (!position.inside(p, tokens)) return;
        angles.load(p, position.value(p), unit);
        loaded = true;
      }
#pragma unroll
      for (int h = 0; h < HEADS; h++) {
        if (first + h * step >= heads) continue;
        float v[N], w[N];
        a[h].unpack(v);
        b[h].unpack(w);
        turn<T, N>(p, angles, v, w);
        Pack<T, N>::of(v).store_to(head[h] + low, false);
        Pack<T, N>::of(w).store_to(head[h] + high, false);
      }
    }
  }
}

template <class T, int HEADS, int N>
__device__ __forceinline__ void turn_tokens(const RotaryParams& p) {
  for (Tokens tokens(p); tokens.more(); tokens.advance()) turn_token<T, HEADS, N>(p, tokens);
}

template <class T, int HEADS>
__device__ __forceinline__ void rotary(const RotaryParams& p) {
  launch_dependents();
  wait_for_predecessors();
  if (p.flags & ROTARY_VECTOR) {
    turn_tokens<T, HEADS, VECTOR_OF<T>>(p);
  } else {
    turn_tokens<T, 1, 1>(p);
  }
}

}  // namespace opweave

#define OPWEAVE_ROTARY_ENTRY(DTYPE, SUFFIX, HEADS)                                                           \
  extern "C" __global__ void __launch_bounds__(512, 1)                                                       \
      opweave_rotary_embedding_##DTYPE##_##SUFFIX(const __grid_constant__ opweave::RotaryParams p) {         \
    opweave::rotary<opweave::DTYPE, HEADS>(p);                                                               \
  }
#define OPWEAVE_ROTARY_ENTRIES(DTYPE) \
  OPWEAVE_ROTARY_ENTRY(DTYPE, h1, 1)  \
  OPWEAVE_ROTARY_ENTRY(DTYPE, h2, 2)

OPWEAVE_ROTARY_ENTRIES(f32)
OPWEAVE_ROTARY_ENTRIES(f16)
OPWEAVE_ROTARY_ENTRIES(bf16)
