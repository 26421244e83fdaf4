// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// i8 codes of numbers under a scale: the nearest integer, ties to even, of the quotient rounded to f32.
//
// Two roundings, and next to a tie between two codes the first decides. So the quotient itself is not taken from the hardware:
// `t` is the tie nearest to it, a whole number and a half of at most 9 places, and x - t * s is exact where it matters, since the
// scale is split into two parts of 12 places whose products with t are exact. The rounded quotient is the tie itself if that
// rest is within half a place of t, times s; else it is above or below, and so is the code.

#pragma once

#include "opweave/bits.h"
#include "opweave/move.h"

namespace opweave {

struct Coding {
  float scale;    // from 2^-60 on
  float inverse;  // about 1 / scale: it only finds the tie
  float lowest;
};

// Half a place of numbers from 1 to 2, which is 2^-23.
constexpr float HALF_A_PLACE = 5.9604645e-08f;

// Codes of `x` in `codes`; x is lost. `tie`, `rest`, `width` hold as many elements, and `mask` 16-bit words of 0 and 0xff80 in turns.
__aicore__ inline void encode(const LocalTensor<int8_t>& codes, const LocalTensor<float>& x, const LocalTensor<float>& tie,
                              const LocalTensor<float>& rest, const LocalTensor<float>& width,
                              const LocalTensor<uint16_t>& mask, const Coding& coding, uint32_t count) {
  const float high = float_of(bits_of(coding.scale) & 0xfffff000), low = coding.scale - high;
  AscendC::Muls(tie, x, coding.inverse, count);
  vector_barrier();
  AscendC::Adds(tie, tie, -0.5f, count);
  vector_barrier();
  AscendC::Cast(tie, tie, RoundMode::CAST_RINT, count);
  vector_barrier();
  AscendC::Adds(tie, tie, 0.5f, count);
  vector_barrier();
  // rest = x - tie * scale
  AscendC::Muls(rest, tie, high, count);
  AscendC::Muls(width, tie, low, count);
  vector_barrier();
  AscendC::Sub(rest, x, rest, count);
  vector_barrier();
  AscendC::Sub(rest, rest, width, count);
  // width = half a place of the tie, times scale: of the tie's bits, sign and exponent are the power of two below it.
  AscendC::And(width.ReinterpretCast<uint16_t>(), tie.ReinterpretCast<uint16_t>(), mask, 2 * count);
  vector_barrier();
  AscendC::Muls(width, width, coding.scale * HALF_A_PLACE, count);
  vector_barrier();
  AscendC::Abs(width, width, count);
  AscendC::Abs(x, rest, count);
  vector_barrier();
  AscendC::Sub(x, x, width, count);
  vector_barrier();
  // A quarter where the rest is wider than that, and nothing where it is not: no rest lies between, for it is at least
  // 2^-49 of the scale from the border.
  const float large = power_of_two(64 - exponent_of(coding.scale));
  AscendC::Maxs(x, x, 0.0f, count);
  AscendC::Muls(rest, rest, large, count);
  vector_barrier();
  AscendC::Muls(x, x, large, count);
  AscendC::Maxs(rest, rest, -1.0f, count);
  vector_barrier();
  AscendC::Mins(x, x, 0.25f, count);
  AscendC::Mins(rest, rest, 1.0f, count);
  vector_barrier();
  AscendC::Mul(rest, rest, x, count);
  vector_barrier();
  AscendC::Add(tie, tie, rest, count);
  vector_barrier();
  AscendC::Mins(tie, tie, 127.0f, count);
  vector_barrier();
  AscendC::Maxs(tie, tie, coding.lowest, count);
  vector_barrier();
  // There is no conversion from f32 to i8: by way of i16, which rounds, and f16, which holds all of these.
  AscendC::Cast(x.ReinterpretCast<int16_t>(), tie, RoundMode::CAST_RINT, count);
  vector_barrier();
  AscendC::Cast(rest.ReinterpretCast<half>(), x.ReinterpretCast<int16_t>(), RoundMode::CAST_NONE, count);
  vector_barrier();
  AscendC::Cast(codes, rest.ReinterpretCast<half>(), RoundMode::CAST_NONE, count);
}

}  // namespace opweave
