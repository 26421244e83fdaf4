// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What opweave's kernels use of Ascend C, on a processor: emulated, not run on hardware.
//
// Names and signatures are those of the vendor's documentation of Ascend C (CANN 8.x, Atlas A2); what is behind them is written
// for opweave. The emulation computes in program order but keeps account of what the hardware would do at the same time, and
// ends a block at the first access that the documentation does not allow, with the kernel, the line and what was expected.

#pragma once

#include "ascendc/core.h"
#include "ascendc/number.h"
#include "ascendc/tensor.h"
#include "ascendc/pipe.h"
#include "ascendc/copy.h"
#include "ascendc/vector.h"
#include "ascendc/reduce.h"
#include "ascendc/convert.h"
