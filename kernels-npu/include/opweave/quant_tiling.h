// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// How rows are quantised: what the host decided. Its twin is `QuantTiling` in crates/opweave-ascendc.

#pragma once

#include <cstdint>

namespace opweave {

struct QuantTiling {
  int64_t rows;
  int64_t width;          // elements of a row
  int64_t input_stride;   // from row to row, in elements
  int64_t out_stride;
  uint32_t tile;          // elements that are taken at a time; the whole row where it fits
  float floor;            // the least scale; 0 for none
  uint32_t flags;
  uint32_t reserved;
};
static_assert(sizeof(QuantTiling) == 48, "the twin has the same size");

enum QuantFlags : uint32_t {
  QUANT_LOWEST_128 = 1 << 0,          // codes go down to -128 and not only to -127
  QUANT_SCALE_POWER_OF_TWO = 1 << 1,  // scales are rounded up to a power of two and stored as its exponent
};

}  // namespace opweave
