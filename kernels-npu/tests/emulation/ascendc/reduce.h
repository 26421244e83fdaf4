// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Sums and the largest of a tensor.

#pragma once

#include "vector.h"

namespace AscendC {

namespace detail {

// Scratch of a reduction, in elements: a result for each repeat of 64 lanes, in whole blocks.
inline uint32_t reduce_scratch(uint32_t count) { return ((count + 63) / 64 + 7) / 8 * 8; }

inline uint32_t reduce(const LocalTensor<float>& dst, const LocalTensor<float>& src, const LocalTensor<float>& scratch,
                       int32_t count, const char* what, Site site, uint32_t* op) {
  emulation::Core& core = emulation::core();
  if (count < 1) core.fail(site, std::string(what) + " of " + std::to_string(count) + " elements: expected at least 1");
  const uint32_t n = static_cast<uint32_t>(count);
  *op = core.issue(PIPE_V);
  const uint32_t from = src.block(0, n * 4, what, site);
  const uint32_t work = scratch.block(0, reduce_scratch(n) * 4, "scratch of a reduction", site);
  core.read(PIPE_V, *op, from, n * 4, what, site);
  core.write(PIPE_V, *op, work, reduce_scratch(n) * 4, "scratch of a reduction", site);
  core.poison(work, reduce_scratch(n) * 4);
  core.write(PIPE_V, *op, dst.place(0, 4, what, site), 4, what, site);
  return from;
}

// Lanes of a repeat two by two, then repeats the same way.
inline float tree(const float* x, uint32_t n) {
  if (n == 1) return x[0];
  uint32_t left = 1;
  while (left * 2 < n) left *= 2;
  return tree(x, left) + tree(x + left, n - left);
}

}  // namespace detail

template <typename T>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& scratch, int32_t count,
               Site site = Site::here()) {
  static_assert(std::is_same_v<T, float>, "ReduceSum is of float and half (not emulated)");
  uint32_t op;
  const uint32_t from = detail::reduce(dst, src, scratch, count, "ReduceSum", site, &op);
  const float sum = detail::tree(detail::at<float>(from), static_cast<uint32_t>(count));
  *detail::at<float>(dst.place(0, 4, "ReduceSum", site)) = sum;
}

// Of numbers. Where there is a NaN among them the documents do not say what comes out, so nothing may be done with it.
template <typename T>
void ReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& scratch, int32_t count,
               bool index = false, Site site = Site::here()) {
  static_assert(std::is_same_v<T, float>, "ReduceMax is of float and half (not emulated)");
  if (index) emulation::core().fail(site, "ReduceMax with an index is not emulated");
  uint32_t op;
  const uint32_t from = detail::reduce(dst, src, scratch, count, "ReduceMax", site, &op);
  const float* x = detail::at<float>(from);
  float largest = x[0];
  bool number = true;
  for (int32_t i = 0; i < count; ++i) {
    number = number && x[i] == x[i];
    largest = x[i] > largest ? x[i] : largest;
  }
  const uint32_t to = dst.place(0, 4, "ReduceMax", site);
  *detail::at<float>(to) = largest;
  if (!number) emulation::core().poison(to, 4);
}

}  // namespace AscendC
