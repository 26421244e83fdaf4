// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `top_k_top_p_sampling` on the CPU.

use opweave_contract::ops::sampling::{
    FilterOrder, TemperatureAt, TopKTopPSampling, TopKTopPSamplingArgs, TopKTopPSamplingProblem,
};
use opweave_device::cpu::Parallel;
use opweave_reference::FaultAt;

use crate::Rows;
use crate::native::Native;
use crate::sampling::{DrawCall, Parameters, draw};
use crate::simd::Isa;

fn parameters(args: &TopKTopPSamplingArgs) -> Parameters {
    Parameters {
        top_k: args.top_k.data().cast(),
        top_p: args.top_p.data().cast(),
        temperature: args.temperature.data().cast(),
        seeds: args.seeds.data().cast(),
        offsets: args.offsets.data().cast(),
    }
}

impl Native for TopKTopPSampling {
    unsafe fn scan(_: &TopKTopPSamplingProblem, args: &TopKTopPSamplingArgs) -> Option<FaultAt> {
        // SAFETY: the caller's clause: the parameters are valid to read, and the check made them as many as there are rows.
        let (row, clause) = unsafe { parameters(args).first_illegal(args.logits.dim(0)) }?;
        Some(FaultAt { clause, row: row as u64 })
    }

    unsafe fn run(problem: &TopKTopPSamplingProblem, args: &TopKTopPSamplingArgs, isa: Isa, pool: &dyn Parallel) {
        let call = DrawCall {
            rows: args.logits.dim(0),
            width: problem.valid_size.unwrap_or(problem.vocab_size),
            dtype: problem.dtype,
            logits: Rows { data: args.logits.data(), stride: args.logits.stride(0) },
            parameters: parameters(args),
            out: args.out.data(),
            index: problem.index_dtype,
            joint: problem.order == FilterOrder::Joint,
            filters_first: problem.temperature_at == TemperatureAt::AfterFilters,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { draw(isa, pool, &call) }
    }
}
