// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// out = gate / (1 + e^-gate) * up, element by element.

#include "product.h"

namespace opweave {

// x / (1 + e^-|x|), times e^x where x is negative: no exponential overflows. e^x is the square of e^(x/2), one factor in each
// result, so that it may go below the normal range without losing places before the last product.
struct Silu {
  __aicore__ static inline void apply(const LocalTensor<float>& value, const LocalTensor<float>& second,
                                      const LocalTensor<float>& scratch, uint32_t count) {
    AscendC::Abs(scratch, value, count);
    AscendC::Mins(second, value, 0.0f, count);
    vector_barrier();
    AscendC::Muls(scratch, scratch, -1.0f, count);
    AscendC::Muls(second, second, 0.5f, count);
    vector_barrier();
    AscendC::Exp(scratch, scratch, count);
    AscendC::Exp(second, second, count);
    vector_barrier();
    AscendC::Adds(scratch, scratch, 1.0f, count);
    vector_barrier();
    AscendC::Div(value, value, scratch, count);
    vector_barrier();
    AscendC::Mul(value, value, second, count);
    vector_barrier();
  }
};

}  // namespace opweave

#define OPWEAVE_ENTRY(NAME, T)                                                                                          \
  extern "C" __global__ __aicore__ void NAME(GM_ADDR gate, GM_ADDR up, GM_ADDR out, opweave::ActivationTiling tiling) { \
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);                                                                     \
    AscendC::TPipe pipe;                                                                                                \
    opweave::Product<T, opweave::Silu>(gate, up, out, tiling, pipe).process();                                          \
  }

OPWEAVE_ENTRY(opweave_silu_and_mul_f32, float)
OPWEAVE_ENTRY(opweave_silu_and_mul_f16, half)
OPWEAVE_ENTRY(opweave_silu_and_mul_bf16, bfloat16_t)
#undef OPWEAVE_ENTRY
