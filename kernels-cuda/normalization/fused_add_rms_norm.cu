// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// fused_add_rms_norm: residual += input, then out = rms_norm of the sum
// fused_add_gemma_rms_norm: the same with 1 + weight (flag WEIGHT_PLUS_ONE)

#include "added.cuh"

OPWEAVE_RMS_ENTRIES(fused_add_rms_norm, FusedAdd, f32, 1024, 896)
OPWEAVE_RMS_ENTRIES(fused_add_rms_norm, FusedAdd, f16, 1024, 896)
OPWEAVE_RMS_ENTRIES(fused_add_rms_norm, FusedAdd, bf16, 1024, 896)
