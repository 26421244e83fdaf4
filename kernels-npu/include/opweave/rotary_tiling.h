// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// How heads are turned: what the host decided. Its twin is `RotaryTiling` in crates/opweave-ascendc.

#pragma once

#include <cstdint>

namespace opweave {

struct RotaryTiling {
  int64_t tokens;
  int64_t max_position;     // rows of the table
  int64_t cache_stride;     // from row to row, in elements
  int64_t q_token_stride;
  int64_t q_head_stride;
  int64_t k_token_stride;
  int64_t k_head_stride;
  uint32_t q_heads;
  uint32_t k_heads;         // 0 where there are no keys
  uint32_t rotary_dim;
  uint32_t pairs;           // that are turned at a time; all of a head where they fit
  uint32_t q_step;          // heads that are turned at a time
  uint32_t k_step;
  uint32_t operation;       // the code of the operation in a fault
  uint32_t flags;
};
static_assert(sizeof(RotaryTiling) == 88, "the twin has the same size");

enum RotaryFlags : uint32_t {
  ROTARY_INTERLEAVED = 1 << 0,     // pairs are neighbours, not halves
  ROTARY_CACHE_F32 = 1 << 1,       // the table is of f32, not of the activations' dtype
  ROTARY_POSITIONS_I32 = 1 << 2,   // positions are of i32, not of i64
  ROTARY_ROUND_PRODUCTS = 1 << 3,  // sine, cosine and products are rounded
};

}  // namespace opweave
