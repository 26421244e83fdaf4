// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Indices in memory, at their full width, and divisions of them.

#pragma once

#include <opweave/ptx.cuh>

namespace opweave {

// Number `at` of a list of i64, i32 or u32.
__device__ __forceinline__ int64_t load_index(const void* list, uint64_t at, bool of_8_bytes, bool unsigned_of_4) {
  if (of_8_bytes) {
    const uint2 w = ptx::load_8(static_cast<const uint2*>(list) + at);
    return static_cast<int64_t>(uint64_t{w.y} << 32 | w.x);
  }
  const uint32_t w = ptx::load_4(static_cast<const uint32_t*>(list) + at);
  return unsigned_of_4 ? int64_t{w} : int64_t{static_cast<int32_t>(w)};
}

// v / by. A division of 64 bits takes a hundred instructions; nearly always 32 are enough.
__device__ __forceinline__ uint64_t divide(uint64_t v, uint32_t by) {
  return v >> 32 == 0 ? static_cast<uint32_t>(v) / by : v / by;
}

}  // namespace opweave
