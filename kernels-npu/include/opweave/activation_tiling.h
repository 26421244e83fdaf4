// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// How an activation times a second half is cut: what the host decided. Its twin is `ActivationTiling` in crates/opweave-ascendc.

#pragma once

#include <cstdint>

namespace opweave {

struct ActivationTiling {
  int64_t rows;
  int64_t width;          // elements of a row of the result
  int64_t gate_stride;    // from row to row, in elements
  int64_t up_stride;
  int64_t out_stride;
  uint32_t tile;          // elements that are taken at a time
  uint32_t flags;
};
static_assert(sizeof(ActivationTiling) == 48, "the twin has the same size");

enum ActivationFlags : uint32_t {
  ACTIVATION_ROUNDED = 1 << 0,  // the activation is rounded before the product
};

}  // namespace opweave
