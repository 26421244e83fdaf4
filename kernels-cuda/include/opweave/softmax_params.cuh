// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What a kernel of the softmax family is told about one call.
//
// Passed by value as the kernel's only parameter. The host side defines a twin of it (`#[repr(C)]`, fields in this order, no
// padding); the size is asserted on both sides and stated in every description.

#pragma once

#include <cstdint>

namespace opweave {

// Strides are in elements, from one row to the next; columns are contiguous. Pointers need the alignment of one element,
// of 16 bytes where the flag SOFTMAX_VECTOR is set.
struct SoftmaxParams {
  const void* input;     // [rows, width] of T
  void* out;             // [rows, width] of T or f32; may be `input` itself with the same dtype and stride
  int64_t rows;          // 0 writes nothing
  int64_t width;
  int64_t input_stride;
  int64_t out_stride;
  // What a difference of logits is multiplied by: `first`, then `scale` for an exponent of 2 or `inverse` for one of e. `first`
  // is a power of two, and 1 but for temperatures whose reciprocal is infinite; only the entry `loop` multiplies by it.
  float first;
  float scale;           // log2(e) / (temperature * first)
  float inverse;         // 1 / (temperature * first)
  uint32_t flags;        // SoftmaxFlag
};
static_assert(sizeof(SoftmaxParams) == 64, "the twin on the host side has this size");

enum SoftmaxFlag : uint32_t {
  LOGARITHM = 1u << 0,       // log_softmax
  OUT_F32 = 1u << 1,         // out is f32 (also where T is f32)
  SOFTMAX_VECTOR = 1u << 2,  // every pointer is aligned to 16 bytes, and width and strides are whole vectors of 16 bytes
  SOFTMAX_STREAM = 1u << 3,  // the output is larger than the L2 cache: write it past what is there
};

}  // namespace opweave
