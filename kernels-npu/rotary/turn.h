// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Heads times the angles of their token: a, b = a * cos - b * sin, b * cos + a * sin.

#pragma once

#include "opweave/move.h"

namespace opweave {

// Elements of f32 in a repeat of a vector instruction, and the most blocks from repeat to repeat.
constexpr uint32_t LANES = 64;
constexpr uint32_t MAX_REPEAT_STRIDE = 255;

// Each of `rows` rows of `step` elements, whole blocks, times one row. `rows` is at most 255.
__aicore__ inline void multiply_rows(const LocalTensor<float>& out, const LocalTensor<float>& x, const LocalTensor<float>& row,
                                     uint32_t rows, uint32_t step) {
  const uint32_t blocks = step / in_block<float>;
  if (blocks > MAX_REPEAT_STRIDE) {
    for (uint32_t i = 0; i < rows; ++i) AscendC::Mul(out[i * step], x[i * step], row, step);
    return;
  }
  const uint8_t stride = static_cast<uint8_t>(blocks);
  for (uint32_t at = 0; at < step; at += LANES) {
    const uint64_t mask = step - at < LANES ? step - at : LANES;
    AscendC::Mul(out[at], x[at], row[at], mask, static_cast<uint8_t>(rows),
                 AscendC::BinaryRepeatParams(1, 1, 1, stride, stride, 0));
  }
}

}  // namespace opweave
