// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What the kernels that find out a device's ceilings are told. The host side defines a twin of it.

#pragma once

#include <cstdint>

namespace opweave {

struct CeilingParams {
  const uint4* source;
  uint4* target;
  int64_t vectors;  // of 16 bytes
  int64_t rounds;   // of multiply-adds
};
static_assert(sizeof(CeilingParams) == 32, "the twin on the host side has this size");

}  // namespace opweave
