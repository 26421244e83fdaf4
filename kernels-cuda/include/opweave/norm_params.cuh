// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What a kernel of the normalization family is told about one call.
//
// One struct for the whole family, passed by value as the kernel's only parameter. The host side defines a twin of it
// (`#[repr(C)]`, fields in this order, no padding); the size is asserted on both sides and stated in every description.

#pragma once

#include <cstdint>

namespace opweave {

// Strides are in elements, from one row to the next; columns are contiguous. Pointers need the alignment of one element,
// of 16 bytes where the flag VECTOR is set. Tensors that the operator does not have are null.
struct NormParams {
  const void* input;        // [rows, groups * width] of T
  const void* gate;         // rms_norm_gated: z, as input
  void* residual;           // fused_add_rms_norm: as input; holds the rounded sum afterwards
  const void* weight;       // [groups * width] of T or f32, or null
  const void* bias;         // layer_norm: as weight
  void* out;                // as input; may be `input` itself with the same stride
  int64_t rows;             // 0 writes nothing
  int64_t width;            // columns that are normalised together: a row's, or a group's of rms_norm_gated
  int64_t groups;           // 1 but for rms_norm_gated
  int64_t input_stride;
  int64_t gate_stride;
  int64_t residual_stride;
  int64_t out_stride;
  float epsilon;
  float inverse_width;      // 1 / width, rounded to f32
  uint32_t flags;           // NormFlag
  uint32_t reserved;        // 0
};
static_assert(sizeof(NormParams) == 120, "the twin on the host side has this size");

// Bits of NormParams::flags. Runtime rather than template parameters: each is one branch that all threads take alike, and
// one image in place of hundreds.
enum NormFlag : uint32_t {
  WEIGHT_SAME = 1u << 0,        // weight is of T; neither bit: no weight
  WEIGHT_F32 = 1u << 1,         // weight is f32 (also where T is f32: then either bit will do)
  BIAS_SAME = 1u << 2,
  BIAS_F32 = 1u << 3,
  WEIGHT_PLUS_ONE = 1u << 4,    // the scale is 1 + weight, formed in f32 (gemma)
  ROUND_NORMALISED = 1u << 5,   // weight_multiply=after_rounding
  ROUND_SUM = 1u << 6,          // sum=rounded
  MAX_NORM_EPS = 1u << 7,       // l2_norm: form=max_norm_eps; else rsqrt_sum_eps
  GATE_SIGMOID = 1u << 8,       // gate=sigmoid; else silu
  GATE_THEN_NORM = 1u << 9,     // order=gate_then_norm; else norm_then_gate
  VECTOR = 1u << 10,            // every pointer is aligned to 16 bytes, and width and strides are whole vectors of 16 bytes
  PARAMETERS_READY = 1u << 11,  // no kernel still running writes weight or bias: they may be read before the dependency
  STREAM = 1u << 12,            // the output is larger than the L2 cache: write it past what is there
  QUANTISE_UNROUNDED = 1u << 13,  // mode=f32: codes are of the norm in f32; else of the norm rounded to T
};

}  // namespace opweave
