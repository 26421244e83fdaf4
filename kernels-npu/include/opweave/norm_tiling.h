// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// How rows are normalised: what the host decided. Its twin is `NormTiling` in crates/opweave-ascendc.

#pragma once

#include <cstdint>

namespace opweave {

struct NormTiling {
  int64_t rows;
  int64_t width;            // elements of a row
  int64_t input_stride;     // from row to row, in elements
  int64_t residual_stride;
  int64_t out_stride;
  uint32_t tile;            // elements that are taken at a time; the whole row where it fits
  float epsilon;
  float inverse_width;      // 1 / width
  uint32_t flags;
};
static_assert(sizeof(NormTiling) == 56, "the twin has the same size");

enum NormFlags : uint32_t {
  NORM_WEIGHT_SAME = 1 << 0,       // a weight of the activations' dtype
  NORM_WEIGHT_F32 = 1 << 1,        // a weight of f32
  NORM_ROUND_NORMALISED = 1 << 2,  // the normalised value is rounded before the weight
  NORM_ROUND_SUM = 1 << 3,         // the norm sees the sum as it is stored
};

}  // namespace opweave
