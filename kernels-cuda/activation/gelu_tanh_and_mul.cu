// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// gelu_tanh_and_mul: out = gate / 2 * (1 + tanh(sqrt(2 / pi) * (gate + 0.044715 * gate^3))) * up

#include "product.cuh"

OPWEAVE_ACTIVATION_ENTRIES(gelu_tanh_and_mul, GeluTanh, f32)
OPWEAVE_ACTIVATION_ENTRIES(gelu_tanh_and_mul, GeluTanh, f16)
OPWEAVE_ACTIVATION_ENTRIES(gelu_tanh_and_mul, GeluTanh, bf16)
