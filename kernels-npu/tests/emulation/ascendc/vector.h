// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Vector instructions on the first elements of tensors (by count), or in repeats of up to 256 bytes with a mask and strides.

#pragma once

#include <cmath>
#include <type_traits>

#include "number.h"
#include "tensor.h"

namespace AscendC {

// Strides in blocks of 32 bytes, between the blocks of a repeat and between repeats.
struct BinaryRepeatParams {
  BinaryRepeatParams() = default;
  BinaryRepeatParams(uint8_t dst_block, uint8_t src0_block, uint8_t src1_block, uint8_t dst, uint8_t src0, uint8_t src1)
      : dstBlkStride(dst_block), src0BlkStride(src0_block), src1BlkStride(src1_block), dstRepStride(dst),
        src0RepStride(src0), src1RepStride(src1) {}
  uint8_t dstBlkStride = 1, src0BlkStride = 1, src1BlkStride = 1;
  uint8_t dstRepStride = 8, src0RepStride = 8, src1RepStride = 8;
};

namespace detail {

// A result that the vendor's documents do not promise to be the nearest, moved by as many places as were asked for.
inline float disturbed(float value) {
  const int places = emulation::disturbance();
  if (places == 0 || !std::isfinite(value) || value == 0.0f) return value;
  const uint32_t bits = emulation::bits_of(value);
  // Up or down by something that no kernel can know.
  const bool up = (bits * 0x9e3779b9u >> 17 & 1) != 0;
  const float moved = emulation::float_of(up ? bits + static_cast<uint32_t>(places) : bits - static_cast<uint32_t>(places));
  return std::isfinite(moved) ? moved : value;
}

template <typename T>
constexpr bool is_arithmetic = std::is_same_v<T, float> || std::is_same_v<T, int32_t> || std::is_same_v<T, int16_t>;

inline void check_count(uint32_t count, const char* what, Site site) {
  if (count == 0) emulation::core().fail(site, std::string(what) + " of 0 elements: expected at least 1");
}

template <typename T>
T* at(uint32_t offset) {
  return reinterpret_cast<T*>(emulation::core().memory() + offset);
}

// One operand of a repeat: its blocks are checked one by one, with what the mask leaves of the last.
template <typename T>
uint32_t repeat_place(const LocalTensor<T>& tensor, uint64_t repeat, uint64_t repeat_stride, uint64_t block_stride,
                      uint64_t block, uint64_t mask, const char* what, Site site, uint32_t* elements) {
  constexpr uint64_t in_block = emulation::BLOCK / sizeof(T);
  *elements = static_cast<uint32_t>(mask - block * in_block < in_block ? mask - block * in_block : in_block);
  return tensor.block((repeat * repeat_stride + block * block_stride) * emulation::BLOCK, *elements * sizeof(T), what, site);
}

template <typename T, typename F>
void binary(const LocalTensor<T>& dst, const LocalTensor<T>& a, const LocalTensor<T>& b, uint32_t count, const char* what,
            Site site, F f) {
  emulation::Core& core = emulation::core();
  check_count(count, what, site);
  const uint32_t op = core.issue(PIPE_V), bytes = count * sizeof(T);
  const uint32_t from = a.block(0, bytes, what, site), other = b.block(0, bytes, what, site);
  const uint32_t to = dst.block(0, bytes, what, site);
  core.read(PIPE_V, op, from, bytes, what, site);
  core.read(PIPE_V, op, other, bytes, what, site);
  core.write(PIPE_V, op, to, bytes, what, site);
  const T *x = at<T>(from), *y = at<T>(other);
  T* out = at<T>(to);
  for (uint32_t i = 0; i < count; ++i) out[i] = f(x[i], y[i]);
}

template <typename T, typename F>
void repeated(const LocalTensor<T>& dst, const LocalTensor<T>& a, const LocalTensor<T>& b, uint64_t mask, uint8_t repeats,
              const BinaryRepeatParams& p, const char* what, Site site, F f) {
  emulation::Core& core = emulation::core();
  constexpr uint64_t lanes = 256 / sizeof(T), in_block = emulation::BLOCK / sizeof(T);
  if (mask < 1 || mask > lanes)
    core.fail(site, std::string(what) + " with a mask of " + std::to_string(mask) + ": expected 1 to " + std::to_string(lanes));
  if (repeats == 0) core.fail(site, std::string(what) + " of 0 repeats: expected 1 to 255");
  const uint32_t op = core.issue(PIPE_V);
  for (uint64_t repeat = 0; repeat < repeats; ++repeat) {
    for (uint64_t block = 0; block * in_block < mask; ++block) {
      uint32_t n;
      const uint32_t x = repeat_place(a, repeat, p.src0RepStride, p.src0BlkStride, block, mask, what, site, &n);
      const uint32_t y = repeat_place(b, repeat, p.src1RepStride, p.src1BlkStride, block, mask, what, site, &n);
      const uint32_t to = repeat_place(dst, repeat, p.dstRepStride, p.dstBlkStride, block, mask, what, site, &n);
      core.read(PIPE_V, op, x, n * sizeof(T), what, site);
      core.read(PIPE_V, op, y, n * sizeof(T), what, site);
      core.write(PIPE_V, op, to, n * sizeof(T), what, site);
      for (uint32_t i = 0; i < n; ++i) at<T>(to)[i] = f(at<T>(x)[i], at<T>(y)[i]);
    }
  }
}

template <typename T, typename F>
void unary(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t count, const char* what, Site site, F f) {
  emulation::Core& core = emulation::core();
  check_count(count, what, site);
  const uint32_t op = core.issue(PIPE_V), bytes = count * sizeof(T);
  const uint32_t from = src.block(0, bytes, what, site), to = dst.block(0, bytes, what, site);
  core.read(PIPE_V, op, from, bytes, what, site);
  core.write(PIPE_V, op, to, bytes, what, site);
  const T* x = at<T>(from);
  T* out = at<T>(to);
  for (uint32_t i = 0; i < count; ++i) out[i] = f(x[i], i);
}

// The smaller or larger of two where one is NaN: the documents do not say, so it is sometimes this and sometimes that.
template <typename T>
T either(T a, T b, bool take_first, uint32_t lane) {
  if (a != a || b != b) return lane % 2 == 0 ? a : b;
  return take_first ? a : b;
}

}  // namespace detail

#define OPWEAVE_BINARY(NAME, EXPRESSION)                                                                              \
  template <typename T>                                                                                               \
  void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& a, const LocalTensor<T>& b, uint32_t count,              \
            Site site = Site::here()) {                                                                               \
    static_assert(detail::is_arithmetic<T>, #NAME " is of float, half (not emulated), int32_t and int16_t");          \
    detail::binary(dst, a, b, count, #NAME, site, [](T x, T y) -> T { return EXPRESSION; });                          \
  }                                                                                                                   \
  template <typename T>                                                                                               \
  void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& a, const LocalTensor<T>& b, uint64_t mask, uint8_t repeats, \
            const BinaryRepeatParams& params, Site site = Site::here()) {                                             \
    static_assert(detail::is_arithmetic<T>, #NAME " is of float, half (not emulated), int32_t and int16_t");          \
    detail::repeated(dst, a, b, mask, repeats, params, #NAME, site, [](T x, T y) -> T { return EXPRESSION; });        \
  }

OPWEAVE_BINARY(Add, static_cast<T>(x + y))
OPWEAVE_BINARY(Sub, static_cast<T>(x - y))
OPWEAVE_BINARY(Mul, static_cast<T>(x * y))
#undef OPWEAVE_BINARY

inline void Div(const LocalTensor<float>& dst, const LocalTensor<float>& a, const LocalTensor<float>& b, uint32_t count,
                Site site = Site::here()) {
  detail::binary(dst, a, b, count, "Div", site, [](float x, float y) { return detail::disturbed(x / y); });
}

template <typename T>
void And(const LocalTensor<T>& dst, const LocalTensor<T>& a, const LocalTensor<T>& b, uint32_t count,
         Site site = Site::here()) {
  static_assert(std::is_same_v<T, uint16_t> || std::is_same_v<T, int16_t>, "And is of 16-bit integers");
  detail::binary(dst, a, b, count, "And", site, [](T x, T y) { return static_cast<T>(x & y); });
}

template <typename T>
void Adds(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& value, uint32_t count, Site site = Site::here()) {
  static_assert(detail::is_arithmetic<T>, "Adds is of float, half (not emulated), int32_t and int16_t");
  detail::unary(dst, src, count, "Adds", site, [value](T x, uint32_t) { return static_cast<T>(x + value); });
}

template <typename T>
void Muls(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& value, uint32_t count, Site site = Site::here()) {
  static_assert(detail::is_arithmetic<T>, "Muls is of float, half (not emulated), int32_t and int16_t");
  detail::unary(dst, src, count, "Muls", site, [value](T x, uint32_t) { return static_cast<T>(x * value); });
}

inline void Maxs(const LocalTensor<float>& dst, const LocalTensor<float>& src, const float& value, uint32_t count,
                 Site site = Site::here()) {
  detail::unary(dst, src, count, "Maxs", site,
                [value](float x, uint32_t i) { return detail::either(x, value, x >= value, i); });
}

inline void Mins(const LocalTensor<float>& dst, const LocalTensor<float>& src, const float& value, uint32_t count,
                 Site site = Site::here()) {
  detail::unary(dst, src, count, "Mins", site,
                [value](float x, uint32_t i) { return detail::either(x, value, x <= value, i); });
}

inline void Abs(const LocalTensor<float>& dst, const LocalTensor<float>& src, uint32_t count, Site site = Site::here()) {
  detail::unary(dst, src, count, "Abs", site, [](float x, uint32_t) { return std::fabs(x); });
}

inline void Sqrt(const LocalTensor<float>& dst, const LocalTensor<float>& src, uint32_t count, Site site = Site::here()) {
  detail::unary(dst, src, count, "Sqrt", site, [](float x, uint32_t) { return detail::disturbed(std::sqrt(x)); });
}

inline void Exp(const LocalTensor<float>& dst, const LocalTensor<float>& src, uint32_t count, Site site = Site::here()) {
  detail::unary(dst, src, count, "Exp", site, [](float x, uint32_t) {
    return detail::disturbed(static_cast<float>(std::exp(static_cast<double>(x))));
  });
}

// Shifts of unsigned integers, and of signed ones that are not negative.
inline void ShiftLeft(const LocalTensor<int32_t>& dst, const LocalTensor<int32_t>& src, const int32_t& bits, uint32_t count,
                      Site site = Site::here()) {
  detail::unary(dst, src, count, "ShiftLeft", site,
                [bits](int32_t x, uint32_t) { return static_cast<int32_t>(static_cast<uint32_t>(x) << bits); });
}

inline void ShiftRight(const LocalTensor<int32_t>& dst, const LocalTensor<int32_t>& src, const int32_t& bits, uint32_t count,
                       Site site = Site::here()) {
  detail::unary(dst, src, count, "ShiftRight", site, [bits](int32_t x, uint32_t) { return x >> bits; });
}

// The same value everywhere, of 16 or 32 bits.
template <typename T>
void Duplicate(const LocalTensor<T>& dst, const T& value, uint32_t count, Site site = Site::here()) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Duplicate is of 16 and 32 bits");
  emulation::Core& core = emulation::core();
  detail::check_count(count, "Duplicate", site);
  const uint32_t to = dst.block(0, count * sizeof(T), "Duplicate", site);
  core.write(PIPE_V, core.issue(PIPE_V), to, count * sizeof(T), "Duplicate", site);
  for (uint32_t i = 0; i < count; ++i) detail::at<T>(to)[i] = value;
}

// `first`, and one more in each element.
inline void CreateVecIndex(LocalTensor<int32_t> dst, const int32_t& first, uint32_t count, Site site = Site::here()) {
  emulation::Core& core = emulation::core();
  detail::check_count(count, "CreateVecIndex", site);
  const uint32_t to = dst.block(0, count * 4, "CreateVecIndex", site);
  core.write(PIPE_V, core.issue(PIPE_V), to, count * 4, "CreateVecIndex", site);
  for (uint32_t i = 0; i < count; ++i) detail::at<int32_t>(to)[i] = first + static_cast<int32_t>(i);
}

// `dst[i]` is what lies `offsets[i]` bytes behind `base` bytes into `src`.
inline void Gather(const LocalTensor<float>& dst, const LocalTensor<float>& src, const LocalTensor<uint32_t>& offsets,
                   uint32_t base, uint32_t count, Site site = Site::here()) {
  emulation::Core& core = emulation::core();
  detail::check_count(count, "Gather", site);
  const uint32_t op = core.issue(PIPE_V);
  const uint32_t table = offsets.block(0, count * 4, "Gather: offsets", site), to = dst.block(0, count * 4, "Gather", site);
  core.read(PIPE_V, op, table, count * 4, "Gather: offsets", site);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t offset = detail::at<uint32_t>(table)[i];
    if (offset % 4 != 0) core.fail(site, "Gather at byte " + std::to_string(offset) + ": expected a multiple of 4");
    const uint32_t from = src.place(static_cast<uint64_t>(base) + offset, 4, "Gather: source", site);
    core.read(PIPE_V, op, from, 4, "Gather: source", site);
    if (from + 4 > to && from < to + count * 4) core.fail(site, "Gather: source and target overlap");
  }
  core.write(PIPE_V, op, to, count * 4, "Gather", site);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t from = src.place(static_cast<uint64_t>(base) + detail::at<uint32_t>(table)[i], 4, "Gather", site);
    detail::at<float>(to)[i] = *detail::at<float>(from);
  }
}

}  // namespace AscendC
