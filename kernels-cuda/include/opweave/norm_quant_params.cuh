// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What a kernel that normalises and quantises is told about one call. The host side defines a twin of it.

#pragma once

#include "norm_params.cuh"
#include "quant_params.cuh"

namespace opweave {

// `norm.out` is of codes, and its stride in codes. With the flag VECTOR it is aligned to the codes of 16 bytes of T.
struct NormQuantParams {
  NormParams norm;
  CodeParams code;
};
static_assert(sizeof(NormQuantParams) == 136, "the twin on the host side has this size");

}  // namespace opweave
