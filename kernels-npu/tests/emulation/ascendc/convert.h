// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Conversions, of those pairs and roundings that Atlas A2 has.

#pragma once

#include "vector.h"

namespace AscendC {

enum class RoundMode { CAST_NONE, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC, CAST_ODD };

namespace detail {

template <typename To, typename From>
struct Conversion;

template <>
struct Conversion<float, half> {
  static constexpr RoundMode mode = RoundMode::CAST_NONE;
  static float one(half x) { return static_cast<float>(x); }
};
template <>
struct Conversion<float, bfloat16_t> {
  static constexpr RoundMode mode = RoundMode::CAST_NONE;
  static float one(bfloat16_t x) { return static_cast<float>(x); }
};
template <>
struct Conversion<half, float> {
  static constexpr RoundMode mode = RoundMode::CAST_RINT;
  static half one(float x) { return half(x); }
};
template <>
struct Conversion<bfloat16_t, float> {
  static constexpr RoundMode mode = RoundMode::CAST_RINT;
  static bfloat16_t one(float x) { return bfloat16_t(x); }
};
template <>
struct Conversion<float, float> {
  static constexpr RoundMode mode = RoundMode::CAST_RINT;
  static float one(float x) { return std::nearbyint(x); }
};
template <>
struct Conversion<float, int32_t> {
  static constexpr RoundMode mode = RoundMode::CAST_RINT;
  static float one(int32_t x) { return static_cast<float>(x); }
};
// Integers outside the range end at its bounds.
template <>
struct Conversion<int16_t, float> {
  static constexpr RoundMode mode = RoundMode::CAST_RINT;
  static int16_t one(float x) {
    const float rounded = std::nearbyint(x);
    return rounded >= 32767.0f ? 32767 : rounded <= -32768.0f ? -32768 : rounded == rounded ? static_cast<int16_t>(rounded) : 0;
  }
};
template <>
struct Conversion<half, int16_t> {
  static constexpr RoundMode mode = RoundMode::CAST_NONE;
  static half one(int16_t x) { return half(static_cast<float>(x)); }
};
template <>
struct Conversion<int8_t, half> {
  static constexpr RoundMode mode = RoundMode::CAST_NONE;
  static int8_t one(half x) {
    const float value = std::trunc(static_cast<float>(x));
    return value >= 127.0f ? 127 : value <= -128.0f ? -128 : value == value ? static_cast<int8_t>(value) : 0;
  }
};

}  // namespace detail

// Each pair of dtypes has the rounding that opweave's kernels use it with; another is refused.
template <typename To, typename From>
void Cast(const LocalTensor<To>& dst, const LocalTensor<From>& src, const RoundMode& mode, uint32_t count,
          Site site = Site::here()) {
  using Pair = detail::Conversion<To, From>;
  emulation::Core& core = emulation::core();
  detail::check_count(count, "Cast", site);
  if (mode != Pair::mode)
    core.fail(site, std::string("Cast with another rounding than ") +
                        (Pair::mode == RoundMode::CAST_NONE ? "CAST_NONE" : "CAST_RINT") +
                        ", which this pair of dtypes has here");
  const uint32_t op = core.issue(PIPE_V);
  const uint32_t from = src.block(0, count * sizeof(From), "Cast", site), to = dst.block(0, count * sizeof(To), "Cast", site);
  if (from != to && from < to + count * sizeof(To) && to < from + count * sizeof(From))
    core.fail(site, "Cast: source and target overlap without being the same");
  if (from == to && sizeof(To) > sizeof(From)) core.fail(site, "Cast to a wider dtype in place");
  core.read(PIPE_V, op, from, count * sizeof(From), "Cast", site);
  core.write(PIPE_V, op, to, count * sizeof(To), "Cast", site);
  const From* x = detail::at<From>(from);
  To* out = detail::at<To>(to);
  for (uint32_t i = 0; i < count; ++i) out[i] = Pair::one(x[i]);
}

}  // namespace AscendC
