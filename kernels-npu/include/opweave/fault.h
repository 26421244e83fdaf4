// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Faults: a value in the data that is outside its table.
//
// The vector cores of Atlas A2 have no exchange in global memory by which the first of several could be told. So one core alone
// reports for a kernel, and kernels of one stream follow each other.

#pragma once

#include "move.h"

namespace opweave {

// The buffer as the host lays it out: a state, the operation over the clause, and the row, of 8 bytes each.
constexpr int64_t FAULT_EMPTY = 0;
constexpr int64_t FAULT_FULL = 2;
constexpr uint32_t FAULT_WORDS = 3;

// Writes a fault unless there is one. `words` is a block.
__aicore__ inline void raise_fault(GM_ADDR faults, const LocalTensor<int64_t>& words, uint32_t operation, uint32_t clause,
                                   int64_t row) {
  GlobalTensor<int64_t> buffer;
  buffer.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t*>(faults), FAULT_WORDS);
  load(words, buffer, FAULT_WORDS);
  wait_for<HardEvent::MTE2_S>();
  if (words.GetValue(0) != FAULT_EMPTY) return;
  words.SetValue(0, FAULT_FULL);
  words.SetValue(1, static_cast<int64_t>(static_cast<uint64_t>(operation) << 32 | clause));
  words.SetValue(2, row);
  wait_for<HardEvent::S_MTE3>();
  store(buffer, words, FAULT_WORDS);
}

}  // namespace opweave
