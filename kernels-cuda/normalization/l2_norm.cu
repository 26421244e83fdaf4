// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// l2_norm: out = input * rsqrt(sum(input^2) + epsilon), or input / max(norm, epsilon) (flag MAX_NORM_EPS)

#include "plain.cuh"

namespace opweave {
template <class T>
using L2Norm = Plain<T, EuclideanNorm, false>;
}

OPWEAVE_RMS_ENTRIES(l2_norm, L2Norm, f32, 1024, 1024)
OPWEAVE_RMS_ENTRIES(l2_norm, L2Norm, f16, 1024, 1024)
OPWEAVE_RMS_ENTRIES(l2_norm, L2Norm, bf16, 1024, 1024)
