// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Order between pipes, and the share of a core.
//
// Every vector instruction that reads what another wrote has a barrier before it. Compilers may put these in by themselves
// (--cce-auto-sync); written out, the kernels are right without, and the emulation can see that they are.

#pragma once

#include "kernel_operator.h"

namespace opweave {

__aicore__ inline void vector_barrier() { AscendC::PipeBarrier<PIPE_V>(); }

// The second pipe of `event` goes on when the first has finished what it was given so far.
template <AscendC::HardEvent event>
__aicore__ inline void wait_for() {
  const auto id = static_cast<event_t>(GetTPipePtr()->FetchEventID(event));
  AscendC::SetFlag<event>(id);
  AscendC::WaitFlag<event>(id);
}

// The first element of what a vector instruction wrote. The vector pipe may write there again afterwards.
__aicore__ inline float scalar_of(const AscendC::LocalTensor<float>& tensor) {
  wait_for<AscendC::HardEvent::V_S>();
  const float value = tensor.GetValue(0);
  wait_for<AscendC::HardEvent::S_V>();
  return value;
}

// Units of work of this core: the same number for each, or one more for the first.
struct Share {
  int64_t first;
  int64_t end;
};

__aicore__ inline Share share_of(int64_t units) {
  const int64_t cores = AscendC::GetBlockNum(), core = AscendC::GetBlockIdx();
  const int64_t each = units / cores, more = units % cores;
  const int64_t first = core * each + (core < more ? core : more);
  return Share{first, first + each + (core < more ? 1 : 0)};
}

}  // namespace opweave
