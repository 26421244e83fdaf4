// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Faults: a value in the data that is outside its table. A kernel reports the first it meets, skips what it cannot do, and gets
// the rest of the call right.

#pragma once

#include <cstdint>

namespace opweave {

// The buffer as the host side lays it out: three words of 8 bytes, in memory that both sides see.
struct FaultBuffer {
  unsigned long long state;  // EMPTY, WRITING, FULL
  unsigned long long code;   // operation in the upper half, position of the clause in the lower
  unsigned long long row;
};
static_assert(sizeof(FaultBuffer) == 24, "the host side reads three words");

enum FaultState : unsigned long long { FAULT_EMPTY = 0, FAULT_WRITING = 1, FAULT_FULL = 2 };

// Writes a fault unless there is one. The first writer wins; a null buffer takes none.
__device__ __forceinline__ void raise_fault(FaultBuffer* buffer, uint32_t operation, uint32_t clause, uint64_t row) {
  if (buffer == nullptr || atomicCAS_system(&buffer->state, FAULT_EMPTY, FAULT_WRITING) != FAULT_EMPTY) return;
  volatile FaultBuffer* fault = buffer;
  fault->code = static_cast<unsigned long long>(operation) << 32 | clause;
  fault->row = row;
  // Code and row before the state that says they are there, for the host too.
  __threadfence_system();
  fault->state = FAULT_FULL;
}

}  // namespace opweave
