// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What a kernel of the activation family is told about one call.
//
// Passed by value as the kernel's only parameter. The host side defines a twin of it (`#[repr(C)]`, fields in this order, no
// padding); the size is asserted on both sides and stated in every description.

#pragma once

#include <cstdint>

namespace opweave {

// Strides are in elements, from one row to the next; columns are contiguous. Packed halves are two views of one tensor. Pointers
// need the alignment of one element, of 16 bytes for the entries that are not `any`.
struct ActivationParams {
  const void* gate;     // [rows, width] of T
  const void* up;       // as gate
  void* out;            // as gate; overlaps neither
  int64_t rows;         // 0 writes nothing
  int64_t width;        // whole vectors for the entries that are not `any`
  int64_t gate_stride;
  int64_t up_stride;
  int64_t out_stride;
  uint32_t tiles;       // that a row is cut into: ceil(width / (elements of an access * accesses of a thread * threads))
  uint32_t flags;       // ActivationFlag
};
static_assert(sizeof(ActivationParams) == 72, "the twin on the host side has this size");

enum ActivationFlag : uint32_t {
  ROUND_ACTIVATION = 1u << 0,  // activation_product=rounded_activation
  STREAM_OUT = 1u << 1,        // the output is larger than the L2 cache: write it past what is there
};

}  // namespace opweave
