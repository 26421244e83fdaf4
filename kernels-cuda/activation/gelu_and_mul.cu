// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// gelu_and_mul: out = gate / 2 * (1 + erf(gate / sqrt(2))) * up

#include "product.cuh"

OPWEAVE_ACTIVATION_ENTRIES(gelu_and_mul, Gelu, f32)
OPWEAVE_ACTIVATION_ENTRIES(gelu_and_mul, Gelu, f16)
OPWEAVE_ACTIVATION_ENTRIES(gelu_and_mul, Gelu, bf16)
