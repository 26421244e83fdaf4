// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The kernels, compiled for this processor by the emulation of Ascend C (`kernels-npu/tests/emulation`), as images that the double
//! of CANN's libraries (`tests/npu-double`) loads: the real rows, plans and launches, in processes of their own.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod images;
mod selection;
#[path = "../../../../tests/npu-double/stage.rs"]
mod shared;
mod suites;
#[path = "../../../../tests/npu-double/suites.rs"]
mod validation;
