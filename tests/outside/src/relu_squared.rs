// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The operator and its kernel.

use std::sync::Arc;

use opweave_contract::tensor::{DType, DeviceKind};
use opweave_contract::{
    Cost, Erased, ImplementationDecl, Legal, NumericalMode, OpContract, OperationDecl, Saturation, ScalarRange,
    operator,
};
use opweave_registry::device::{LaunchError, StreamRef};
use opweave_registry::{Domain, Kernel, KernelSpec, Needs, Plan, PrepareContext, PrepareError, Workspace};

use crate::solution::{NAME, Rows};

/// The contract: one numerical mode, computed in f32 and rounded once.
pub static RELU_SQUARED: OpContract = OpContract {
    operation: "relu_squared",
    version: 1,
    mutates: &[],
    aliases: &[("out", "input")],
    numerical_mode: NumericalMode {
        name: "",
        accumulation: DType::F32,
        roundings: &[],
        weight_multiply: None,
        saturation: Saturation::None,
    },
};

operator! {
    /// `out = scale * max(input, 0)^2`, element by element.
    pub ReluSquared = "relu_squared";
    problem ReluSquaredProblem {
        required {
            /// Elements of a row.
            width: usize => Legal::Range(1, 1 << 30);
            /// dtype of `input` and `out`.
            dtype: DType => Legal::DTypes(&[DType::F32, DType::BF16]);
        }
        optional {}
        relations []
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args ReluSquaredArgs {
        tensors {
            /// What is squared.
            input: In [tokens strided, width] of dtype;
            /// The result.
            out: Out [tokens strided, width] aliases [input] of dtype;
        }
        scalars {
            /// Multiplied in f32, before the rounding.
            scale: f32 = 1.0 => ScalarRange::FINITE;
        }
    }
    faults []
    contracts [&RELU_SQUARED] by |_problem| &RELU_SQUARED;
    cost |problem, specs, dims| Cost::streaming(specs, dims, 3 * (dims.get(0) * problem.width) as u64);
}

/// The operations of this crate with their rows, for `RuntimeBuilder::declare`.
pub const OPERATIONS: &[OperationDecl] = &[OperationDecl::new(
    &Erased::<ReluSquared>::NEW,
    &[ImplementationDecl { name: ROW, solution: NAME, libraries: &[] }],
)];

const ROW: &str = "cpu.outside.relu_squared";

/// The kernel of this crate: f32 only, so that a bf16 problem shows how a refusal reads.
pub(crate) struct ReluSquaredKernel {
    spec: KernelSpec,
}

impl ReluSquaredKernel {
    pub(crate) fn new() -> Self {
        let mut spec = KernelSpec::new(ROW, "outside", DeviceKind::Cpu, &[&RELU_SQUARED]);
        spec.needs = Needs::default().with(Domain::DTypes(vec!["dtype"], vec![vec![Some(DType::F32)]]));
        ReluSquaredKernel { spec }
    }
}

impl Kernel<ReluSquared> for ReluSquaredKernel {
    fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    fn prepare(
        &self,
        problem: &ReluSquaredProblem,
        _context: &PrepareContext<'_>,
    ) -> Result<Arc<dyn Plan<ReluSquared>>, PrepareError> {
        Ok(Arc::new(ReluSquaredPlan { width: problem.width }))
    }
}

struct ReluSquaredPlan {
    width: usize,
}

impl Plan<ReluSquared> for ReluSquaredPlan {
    unsafe fn enqueue(&self, args: &ReluSquaredArgs, _: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        let (input, out) = (Rows::of(&args.input), Rows::of(&args.out));
        let (scale, width) = (args.scale, self.width);
        let task = |row: usize| {
            // SAFETY: clause 2 of `Plan::enqueue`: both views are f32 rows of `width` elements, `row` is one of them.
            let (from, to) = unsafe { (input.row(row), out.row(row)) };
            for column in 0..width {
                // SAFETY: clauses 2 and 3 of `Plan::enqueue`; `out` may be `input` itself, so no slices are formed.
                unsafe { to.add(column).write(relu_squared(from.add(column).read(), scale)) };
            }
        };
        stream.pool().run(args.input.shape()[0], &task);
        Ok(())
    }
}

fn relu_squared(x: f32, scale: f32) -> f32 {
    // Not `max`, which would turn NaN into 0.
    let positive = if x < 0.0 { 0.0 } else { x };
    scale * (positive * positive)
}
