// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Every kernel of the family, on every instruction set of the host, against the f64 reference.
//!
//! Tests whose name begins with `odd_` are quick and touch every kind of row end and alignment: they are the ones to run
//! under valgrind or an address sanitiser.

mod cases;
mod config;
mod magnitudes;
mod run;
mod shapes;
mod tensor;
mod threads;
