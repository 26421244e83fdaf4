// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What the programs of this folder share: random numbers, counts of what was tried, and tensors.

#pragma once

#include <algorithm>
#include <random>

#include "cuda.h"

#include <opweave/round.cuh>

inline std::mt19937 random_bits(20261129);
inline double normal() { return std::normal_distribution<double>()(random_bits); }
inline long calls = 0, failures = 0;
inline unsigned warps(unsigned threads) { return (threads + 31) / 32 * 32; }

// Elements at an alignment of 16 bytes, or `shift` elements beyond it.
template <class T>
struct Tensor {
  std::vector<T> memory;
  size_t shift;
  Tensor(size_t elements, size_t shift) : memory(elements + 64), shift(shift) {}
  T* data() {
    const auto address = (reinterpret_cast<uintptr_t>(memory.data()) + 15) & ~uintptr_t{15};
    return reinterpret_cast<T*>(address) + shift;
  }
  Tensor& fill(double scale) {
    for (T& v : memory) v = opweave::round_f64<T>(normal() * scale);
    return *this;
  }
  Tensor copy() {
    Tensor other(memory.size() - 64, shift);
    std::memcpy(other.data() - shift, data() - shift, (memory.size() - 32) * sizeof(T));
    return other;
  }
};
