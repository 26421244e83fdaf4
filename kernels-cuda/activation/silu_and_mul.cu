// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// silu_and_mul: out = gate / (1 + e^-gate) * up

#include "product.cuh"

OPWEAVE_ACTIVATION_ENTRIES(silu_and_mul, Silu, f32)
OPWEAVE_ACTIVATION_ENTRIES(silu_and_mul, Silu, f16)
OPWEAVE_ACTIVATION_ENTRIES(silu_and_mul, Silu, bf16)
