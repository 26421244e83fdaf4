// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Elements between global memory, at any address, and the unified buffer; to f32 and back.

#pragma once

#include "order.h"

namespace opweave {

using AscendC::GlobalTensor;
using AscendC::HardEvent;
using AscendC::LocalTensor;
using AscendC::RoundMode;
using AscendC::TPosition;

// A block of the unified buffer, in elements.
template <typename T>
constexpr uint32_t in_block = 32 / sizeof(T);

// Up to a whole number of blocks.
template <typename T>
__aicore__ inline uint32_t padded(uint32_t elements) {
  return (elements + in_block<T> - 1) / in_block<T> * in_block<T>;
}

// `count` elements, no more on either side: rows may have any width and begin anywhere.
template <typename T>
__aicore__ inline void load(const LocalTensor<T>& to, const GlobalTensor<T>& from, uint32_t count) {
  const AscendC::DataCopyExtParams copy(1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0);
  AscendC::DataCopyPad(to, from, copy, AscendC::DataCopyPadExtParams<T>());
}

template <typename T>
__aicore__ inline void store(const GlobalTensor<T>& to, const LocalTensor<T>& from, uint32_t count) {
  AscendC::DataCopyPad(to, from, AscendC::DataCopyExtParams(1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0));
}

// f32 of what is stored as T. Vector instructions know no bf16, and sums are of f32 whatever is stored.
template <typename T>
__aicore__ inline void widen(const LocalTensor<float>& to, const LocalTensor<T>& from, uint32_t count) {
  if constexpr (sizeof(T) == sizeof(float)) {
    // A product with one keeps every number as it is, signs of zeros too, which a sum with zero would not.
    AscendC::Muls(to, from, 1.0f, count);
  } else {
    AscendC::Cast(to, from, RoundMode::CAST_NONE, count);
  }
}

// To the nearest T, ties to even.
template <typename T>
__aicore__ inline void narrow(const LocalTensor<T>& to, const LocalTensor<float>& from, uint32_t count) {
  if constexpr (sizeof(T) == sizeof(float)) {
    AscendC::Muls(to, from, 1.0f, count);
  } else {
    AscendC::Cast(to, from, RoundMode::CAST_RINT, count);
  }
}

// f32 rounded to T and back in place, by way of `scratch`. Ends with a barrier.
template <typename T>
__aicore__ inline void round_to(const LocalTensor<float>& values, const LocalTensor<T>& scratch, uint32_t count) {
  if constexpr (sizeof(T) != sizeof(float)) {
    AscendC::Cast(scratch, values, RoundMode::CAST_RINT, count);
    vector_barrier();
    AscendC::Cast(values, scratch, RoundMode::CAST_NONE, count);
    vector_barrier();
  }
}

}  // namespace opweave
