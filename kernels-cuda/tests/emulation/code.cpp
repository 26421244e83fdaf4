// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Codes of one byte without a GPU: every number that rounding can tell apart, against a search among the numbers of the
// format, in integers and by what the instruction gives.

#include "cuda.h"

#include <opweave/code.cuh>

using namespace opweave;

long failures = 0, checked = 0;

// What a code stands for, by the definition of its format.
double number(f8e4m3 c) {
  const int e = c.bits >> 3 & 15, m = c.bits & 7;
  return (c.bits & 0x80 ? -1 : 1) * (e == 0 ? std::ldexp(m, -9) : std::ldexp(8 + m, e - 10));
}
double number(f8e5m2 c) {
  const int e = c.bits >> 2 & 31, m = c.bits & 3;
  return (c.bits & 0x80 ? -1 : 1) * (e == 0 ? std::ldexp(m, -16) : std::ldexp(4 + m, e - 17));
}
double number(i8 c) { return static_cast<int8_t>(c.bits); }

template <class C>
uint8_t wanted(float v) {
  if constexpr (__is_same(C, i8)) {
    if (std::isnan(v)) return 0;
  } else {
    if (std::isnan(v)) return C::NAN_CODE;
  }
  const bool floats = !__is_same(C, i8), negative = std::signbit(v);
  int best = -1;
  double least = 0;
  const int finite = __is_same(C, f8e4m3) ? 0x7e : __is_same(C, f8e5m2) ? 0x7b : 0xff;
  // Beyond all numbers, and near enough for exact distances.
  const double clamped = std::fmin(std::fmax(v, -1e6), 1e6);
  for (int code = 0; code < 256; code++) {
    if (floats && ((code & 0x7f) > finite || ((code & 0x80) != 0) != negative)) continue;
    const double distance = std::fabs(clamped - number(C{static_cast<uint8_t>(code)}));
    // Of a tie the even one: neighbours differ in the last bit.
    if (best < 0 || distance < least || (distance == least && code % 2 == 0)) best = code, least = distance;
  }
  return static_cast<uint8_t>(best);
}

template <class C, bool BY_INSTRUCTION>
void check(float v) {
  checked++;
  const uint8_t want = wanted<C>(v);
  const uint32_t got = codes_of<C, BY_INSTRUCTION>(v, -v, v, v), other = wanted<C>(-v);
  const uint32_t all = want | other << 8 | uint32_t{want} << 16 | uint32_t{want} << 24;
  if (got != all && failures++ < 20) std::printf("%a (%08x): %08x, wanted %08x\n", v, __float_as_uint(v), got, all);
}

// All upper halves of an f32, and low halves that are zero, next to it, next to the middle, and full. A code has at most eight
// bits of the upper half: what is below them counts by whether it is nothing, the middle or neither.
template <class C>
void check_all() {
  for (uint32_t high = 0; high < 0x8000; high++) {
    for (uint32_t low : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const float v = __uint_as_float(high << 16 | low);
      check<C, false>(v);
      if (!__is_same(C, i8) && low % 0x8000 < 2) check<C, true>(v);
    }
  }
  for (int code = 0; code < 256; code++) {
    const C c{static_cast<uint8_t>(code)};
    const float got = to_f32(c);
    bool nan = false, infinite = false;
    if constexpr (__is_same(C, f8e4m3)) nan = (code & 0x7f) == 0x7f;
    if constexpr (__is_same(C, f8e5m2)) nan = (code & 0x7f) > 0x7c, infinite = (code & 0x7f) == 0x7c;
    const bool good = nan ? std::isnan(got)
                      : infinite ? std::isinf(got) && std::signbit(got) == (code > 0x7f)
                                 : got == number(c) && (__is_same(C, i8) || std::signbit(got) == (code > 0x7f));
    checked++;
    if (!good && failures++ < 20) std::printf("code %02x is %g\n", static_cast<unsigned>(code), got);
  }
}

int main() {
  check_all<f8e4m3>(), check_all<f8e5m2>(), check_all<i8>();
  std::printf("codes: %ld conversions, %ld failures\n", checked, failures);
  return failures == 0 && checked > 500000 ? 0 : 1;
}
