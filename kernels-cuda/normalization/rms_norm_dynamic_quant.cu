// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// rms_norm_dynamic_quant: norm = rms_norm of input, then scale = max(abs(norm)) / largest code and
// out = saturate(round(norm / scale)), row by row

#include "plain.cuh"
#include "quantized.cuh"

OPWEAVE_QUANTIZED_ENTRIES(rms_norm_dynamic_quant, RmsNorm, f32)
OPWEAVE_QUANTIZED_ENTRIES(rms_norm_dynamic_quant, RmsNorm, f16)
OPWEAVE_QUANTIZED_ENTRIES(rms_norm_dynamic_quant, RmsNorm, bf16)
