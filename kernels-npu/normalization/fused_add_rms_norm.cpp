// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// residual += input, then out = residual * rsqrt(mean(residual^2) + epsilon) * weight, row by row.

#include "rms.h"

#define OPWEAVE_ENTRY(NAME, T)                                                                                \
  extern "C" __global__ __aicore__ void NAME(GM_ADDR input, GM_ADDR residual, GM_ADDR weight, GM_ADDR out,    \
                                             opweave::NormTiling tiling) {                                    \
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);                                                           \
    AscendC::TPipe pipe;                                                                                      \
    opweave::Rms<T, true>(input, residual, weight, out, tiling, pipe).process();                              \
  }

OPWEAVE_ENTRY(opweave_fused_add_rms_norm_f32, float)
OPWEAVE_ENTRY(opweave_fused_add_rms_norm_f16, half)
OPWEAVE_ENTRY(opweave_fused_add_rms_norm_bf16, bfloat16_t)
#undef OPWEAVE_ENTRY
