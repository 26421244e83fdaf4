// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What the kernel of argmax is told about one call.
//
// Passed by value as the kernel's only parameter. The host side defines a twin of it (`#[repr(C)]`, fields in this order, no
// padding); the size is asserted on both sides and stated in every description.

#pragma once

#include <cstdint>

namespace opweave {

struct ArgmaxParams {
  const void* logits;  // [rows, stride] of T, of which `width` columns are looked at; aligned to one element
  void* out;           // [rows] of 4 or 8 bytes
  int64_t rows;        // 0 writes nothing
  int64_t stride;      // in elements
  uint32_t width;      // at least 1, at most 2^30
  uint32_t flags;      // ArgmaxFlag
};
static_assert(sizeof(ArgmaxParams) == 40, "the twin on the host side has this size");

enum ArgmaxFlag : uint32_t {
  NAN_FIRST = 1u << 0,  // NaN is above all numbers, else below
  INDEX_64 = 1u << 1,   // indices have 8 bytes
};

}  // namespace opweave
