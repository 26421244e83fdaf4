// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `argmax` by comparisons with the largest element: `aclnnArgMax` says neither which of several it takes nor what a NaN is.

use opweave_contract::ops::sampling::{ARGMAX, Argmax, ArgmaxArgs, ArgmaxProblem, NanOrder};
use opweave_registry::Needs;
use opweave_tensor::DType;

use crate::descriptor::{Form, code_of};
use crate::indices::{DIFFERS, EQUALS, EQUALS_NUMBER, FILL_INTEGER};
use crate::operation::{Attributes, CAST, COPY, COUNT, FILL_NUMBER, LARGEST, Operation, SMALLEST, WHERE};
use crate::program::{Operand, Program};
use crate::vendor::{Row, Vendor};

/// A row's columns, and the number behind the last one, which stands for none.
struct Columns {
    width: usize,
    tokens: usize,
    places: Option<Operand>,
    none: Option<Operand>,
}

impl Columns {
    fn new(args: &ArgmaxArgs, width: usize, program: &mut Program) -> Self {
        let mut counted = |from: usize, count: usize| {
            let places = program.scratch_tensor(&args.out, DType::I32, &[count]);
            let limits = Attributes { limit: (from + count) as i64, ..Attributes::number(from as i64) };
            program.push(&COUNT, limits, &[places]);
            program.reshaped(places, DType::I32, &[1, count])
        };
        let (places, none) = (counted(0, width), counted(width, 1));
        Columns { width, tokens: args.out.dim(0), places, none }
    }

    /// The first column of each row that is not `excluded`; the width, where all are.
    fn first(&self, excluded: Option<Operand>, args: &ArgmaxArgs, program: &mut Program) -> Option<Operand> {
        let first = program.scratch_tensor(&args.out, DType::I32, &[self.tokens, 1]);
        let behind = program.mark();
        let left = program.scratch_tensor(&args.out, DType::I32, &[self.tokens, self.width]);
        program.push(&WHERE, Attributes::default(), &[excluded, self.none, self.places, left]);
        program.push(&SMALLEST, Attributes::number(1), &[left, first]);
        program.release(behind);
        first
    }
}

impl Vendor for Argmax {
    const OPERATIONS: &'static [&'static Operation] = &[
        &DIFFERS,
        &EQUALS,
        &EQUALS_NUMBER,
        &FILL_INTEGER,
        &FILL_NUMBER,
        &COUNT,
        &LARGEST,
        &SMALLEST,
        &WHERE,
        &CAST,
        &COPY,
    ];

    /// Every dtype and order.
    fn row() -> Row {
        Row::new(&ARGMAX, Needs::default())
    }

    /// Of a row, NaN out of the way: its largest element, the columns that differ from it, the first one that does not. A NaN
    /// differs from everything, itself included.
    fn program(problem: &ArgmaxProblem, args: &ArgmaxArgs, program: &mut Program) {
        let tokens = args.logits.dim(0);
        if tokens == 0 {
            return;
        }
        let width = problem.valid_size.unwrap_or(problem.vocab_size);
        let shape = [tokens, width];
        let logits =
            program.matrix(&args.logits, problem.dtype, (tokens, width), (args.logits.stride(0), 1), Form::Plain);
        let columns = Columns::new(args, width, program);
        let plain = program.scratch_tensor(&args.logits, problem.dtype, &shape);
        program.push(&COPY, Attributes::default(), &[plain, logits]);
        let nan = program.scratch_tensor(&args.logits, DType::Bool, &shape);
        program.push(&DIFFERS, Attributes::default(), &[logits, logits, nan]);
        let least = Attributes { real: f64::NEG_INFINITY, ..Attributes::default() };
        program.push(&FILL_NUMBER, least, &[plain, nan]);
        let largest = program.scratch_tensor(&args.logits, problem.dtype, &[tokens, 1]);
        program.push(&LARGEST, Attributes::number(1), &[plain, largest]);
        let smaller = program.scratch_tensor(&args.logits, DType::Bool, &shape);
        program.push(&DIFFERS, Attributes::default(), &[logits, largest, smaller]);
        let mut index = columns.first(smaller, args, program);
        let none = program.scratch_tensor(&args.logits, DType::Bool, &[tokens, 1]);
        match problem.nan {
            // Only a row of NaN has no column that is as large as -infinity.
            NanOrder::Last => {
                program.push(&EQUALS_NUMBER, Attributes::number(width as i64), &[index, none]);
                program.push(&FILL_INTEGER, Attributes::number(0), &[index, none]);
            }
            NanOrder::First => {
                let numbers = program.scratch_tensor(&args.logits, DType::Bool, &shape);
                program.push(&EQUALS, Attributes::default(), &[logits, logits, numbers]);
                let first_nan = columns.first(numbers, args, program);
                program.push(&EQUALS_NUMBER, Attributes::number(width as i64), &[first_nan, none]);
                let either = program.scratch_tensor(&args.out, DType::I32, &[tokens, 1]);
                program.push(&WHERE, Attributes::default(), &[none, index, first_nan, either]);
                index = either;
            }
        }
        let index = program.reshaped(index, DType::I32, &[tokens]);
        let out = program.argument(&args.out);
        if problem.index_dtype == DType::I64 {
            program.push(&CAST, Attributes::number(code_of(DType::I64).unwrap_or(-1).into()), &[index, out]);
        } else {
            // Of a u32 the upper half is never used.
            let out = program.reshaped(out, DType::I32, &[tokens]);
            program.push(&COPY, Attributes::default(), &[out, index]);
        }
    }
}
