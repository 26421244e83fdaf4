// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// fused_add_rms_norm_dynamic_quant: residual += input, norm = rms_norm of the sum, then scale = max(abs(norm)) / largest code and
// out = saturate(round(norm / scale)), row by row

#include "added.cuh"
#include "quantized.cuh"

OPWEAVE_QUANTIZED_ENTRIES(fused_add_rms_norm_dynamic_quant, FusedAdd, f32)
OPWEAVE_QUANTIZED_ENTRIES(fused_add_rms_norm_dynamic_quant, FusedAdd, f16)
OPWEAVE_QUANTIZED_ENTRIES(fused_add_rms_norm_dynamic_quant, FusedAdd, bf16)
