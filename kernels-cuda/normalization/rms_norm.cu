// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// rms_norm: out = input * rsqrt(mean(input^2) + epsilon) * weight
// gemma_rms_norm: the same with 1 + weight (flag WEIGHT_PLUS_ONE)

#include "plain.cuh"

OPWEAVE_RMS_ENTRIES(rms_norm, RmsNorm, f32, 1024, 1024)
OPWEAVE_RMS_ENTRIES(rms_norm, RmsNorm, f16, 1024, 1024)
OPWEAVE_RMS_ENTRIES(rms_norm, RmsNorm, bf16, 1024, 1024)
