// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What a kernel that writes codes is told about one call. The host side defines twins of these structs.

#pragma once

#include <cstdint>

#include "fault.cuh"

namespace opweave {

// How codes and scales are formed.
struct CodeParams {
  void* scale;     // quantize_per_tensor: one f32, read. Else one scale for each row, side by side, written: f32, or f8e8m0
                   // where the flag SCALE_POWER_OF_TWO is set
  float floor;     // the smallest scale; 0 for none
  uint32_t flags;  // CodeFlag
};
static_assert(sizeof(CodeParams) == 16, "the twin on the host side has this size");

enum CodeFlag : uint32_t {
  CODES_F8E4M3 = 1u << 0,  // neither of these two: i8
  CODES_F8E5M2 = 1u << 1,
  LOWEST_128 = 1u << 2,          // i8: codes go down to -128, else to -127
  SCALE_POWER_OF_TWO = 1u << 3,  // a scale is rounded up to a power of two
};

// A call of the quantization family. Strides are in elements, from one row to the next, and codes are of one byte.
struct QuantParams {
  const void* input;       // [rows, width] of T
  const int32_t* zero_point;  // one, or null
  uint8_t* out;            // [rows, width] of codes
  FaultBuffer* faults;     // or null
  int64_t rows;            // 0 writes nothing
  int64_t width;
  int64_t input_stride;
  int64_t out_stride;
  CodeParams code;
  uint32_t operation;      // what a fault is of
  uint32_t flags;          // QuantFlag
};
static_assert(sizeof(QuantParams) == 88, "the twin on the host side has this size");

enum QuantFlag : uint32_t {
  QUANT_VECTOR = 1u << 0,  // `input` is aligned to 16 bytes, `out` to the codes of 16 bytes of T; strides, and the width but of
                           // quantize_per_tensor, are whole vectors
  QUANT_STREAM = 1u << 1,  // the output is larger than the L2 cache: write it past what is there
};

}  // namespace opweave
