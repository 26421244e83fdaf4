// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Widths, strides, alignments and aliases.

use opweave_contract::ops::normalization::{Gate, GateOrder};
use opweave_cpu::simd::Isa;

use crate::config::{Config, DTYPES, Op, configurations, operators};
use crate::run::{Call, Places};
use crate::tensor::Place;

/// A view whose every operand is off by one element and whose rows are apart.
fn awkward() -> Places {
    let shifted = Place { offset: 1, gap: 0 };
    let strided = Place { offset: 1, gap: 3 };
    Places { input: strided, residual: strided, z: shifted, weight: shifted, bias: shifted, out: strided }
}

/// Every configuration at a width with whole vectors, single vectors and a tail, plain and awkward, apart and in place.
#[test]
fn every_configuration() {
    for isa in Isa::available() {
        for config in configurations() {
            for places in [Places::default(), awkward()] {
                Call::new(config, 3, 109, places).check(isa);
                Call::new(config, 3, 109, places).in_place().check(isa);
            }
        }
    }
}

/// Every width from 1 to 130 and those that broke others, in each operator and dtype.
#[test]
fn every_width() {
    let widths: Vec<usize> = (1..=130).chain([513, 768, 769, 3584]).collect();
    for isa in Isa::available() {
        for op in operators() {
            for dtype in DTYPES {
                for &width in &widths {
                    Call::new(Config::new(op, dtype), 2, width, awkward()).check(isa);
                }
            }
        }
    }
}

/// The same on few widths, for a run under valgrind.
#[test]
fn odd_widths() {
    for isa in Isa::available() {
        for op in operators() {
            for dtype in DTYPES {
                for width in [1, 7, 8, 9, 31, 33, 65] {
                    Call::new(Config::new(op, dtype), 2, width, awkward()).check(isa);
                    Call::new(Config::new(op, dtype), 2, width, Places::default()).in_place().check(isa);
                }
            }
        }
    }
}

/// The same with nothing behind any tensor: a read past a row's end that changes no result is seen by valgrind alone.
#[test]
fn odd_tensors_end_with_their_memory() {
    for isa in Isa::available() {
        for op in operators() {
            for dtype in DTYPES {
                for width in [1, 7, 9, 31, 65] {
                    Call::new(Config::new(op, dtype), 2, width, awkward()).tight().check(isa);
                    Call::new(Config::new(op, dtype), 2, width, Places::default()).in_place().tight().check(isa);
                }
            }
        }
    }
}

/// Case A02: each operand in turn off its alignment gives the bits of the aligned call.
#[test]
fn odd_alignments_give_the_same_bits() {
    let off = Place { offset: 1, gap: 0 };
    let none = Place::default();
    for isa in Isa::available() {
        for op in operators() {
            for dtype in DTYPES {
                let config = Config::new(op, dtype);
                let bits = |places| {
                    let mut call = Call::new(config, 4, 128, places);
                    call.execute(isa);
                    (call.result().bits(), call.residual.bits())
                };
                let aligned = bits(Places::default());
                for mask in 1..64_u32 {
                    let pick = |bit: u32| if mask & (1 << bit) != 0 { off } else { none };
                    let [input, residual, z, weight, bias, out] = std::array::from_fn(|bit| pick(bit as u32));
                    let places = Places { input, residual, z, weight, bias, out };
                    assert_eq!(bits(places), aligned, "{} {config:?} {places:?}", isa.name());
                }
            }
        }
    }
}

#[test]
fn odd_no_rows() {
    for isa in Isa::available() {
        for op in operators() {
            for dtype in DTYPES {
                Call::new(Config::new(op, dtype), 0, 64, Places::default()).check(isa);
            }
        }
    }
}

/// Groups that are and are not whole vectors, down to single columns.
#[test]
fn odd_groups() {
    for isa in Isa::available() {
        for order in [GateOrder::NormThenGate, GateOrder::GateThenNorm] {
            for dtype in DTYPES {
                for (width, groups) in [(96, 2), (96, 3), (70, 7), (26, 26), (4096, 8)] {
                    let config = Config::new(Op::Gated(Gate::Silu, order, groups), dtype);
                    assert_eq!(config.groups(), groups);
                    Call::new(config, 2, width, awkward()).check(isa);
                    Call::new(config, 2, width, Places::default()).in_place().check(isa);
                }
            }
        }
    }
}
