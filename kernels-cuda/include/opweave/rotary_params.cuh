// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What a kernel of the rotary family is told about one call. The host side defines a twin of it.

#pragma once

#include <cstdint>

#include "fault.cuh"

namespace opweave {

// Strides are in elements. Tensors that the operator does not have are null, and their counts 0.
struct RotaryParams {
  const void* positions;   // [tokens] of i64, or of i32 (flag)
  void* q;                 // [tokens, q_heads, head_dim] of T, turned in place
  void* k;                 // [tokens, k_heads, head_dim] of T, likewise
  const void* cache;       // [max_position, rotary_dim]: cosines, then sines, of T or f32
  const void* q_weight;    // fused_qk_norm_rope: [head_dim] of T or f32, or null
  const void* k_weight;
  FaultBuffer* faults;     // or null
  int64_t tokens;          // 0 writes nothing
  int64_t max_position;
  int64_t q_token_stride;
  int64_t q_head_stride;
  int64_t k_token_stride;
  int64_t k_head_stride;
  int64_t cache_stride;
  uint32_t q_heads;
  uint32_t k_heads;
  uint32_t head_dim;
  uint32_t rotary_dim;     // even, at most head_dim
  uint32_t parts;          // blocks that share a token; the grid is a multiple of it
  uint32_t operation;      // what a fault is of
  float epsilon;           // fused_qk_norm_rope
  float inverse_width;     // 1 / head_dim, rounded to f32
  uint32_t flags;          // RotaryFlag
  uint32_t reserved;       // 0
};
static_assert(sizeof(RotaryParams) == 152, "the twin on the host side has this size");

enum RotaryFlag : uint32_t {
  INTERLEAVED = 1u << 0,    // pairs are neighbours, else one of each half
  CACHE_F32 = 1u << 1,      // the cache is of f32, else of T
  POSITIONS_I32 = 1u << 2,
  ROUND_PRODUCTS = 1u << 3, // products=rounded: sine, cosine and products are rounded to T
  ROUND_HEAD = 1u << 4,     // between=rounded: a normalised head is rounded to T
  HEAD_WEIGHT_SAME = 1u << 5,  // weights are of T; neither bit: no weights
  HEAD_WEIGHT_F32 = 1u << 6,
  ROTARY_VECTOR = 1u << 7,  // every pointer is aligned to 16 bytes, and strides, half of rotary_dim and, for heads that are
                            // normalised, head_dim are whole vectors of 16 bytes
};

}  // namespace opweave
