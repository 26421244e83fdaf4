// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A row of this crate's solution for an operator of opweave's.

use std::sync::Arc;

use opweave_contract::ops::normalization::{RMS_NORM_F32, RmsNorm, RmsNormArgs, RmsNormProblem};
use opweave_contract::tensor::{DType, DeviceKind};
use opweave_registry::device::{LaunchError, StreamRef};
use opweave_registry::{Domain, Kernel, KernelSpec, Needs, Plan, PrepareContext, PrepareError, Workspace};

use crate::solution::Rows;

/// Name of the row.
pub(crate) const ROW: &str = "cpu.outside.rms_norm";

/// A plain kernel: f32 without a weight, one numerical mode.
pub(crate) struct RmsNormKernel {
    spec: KernelSpec,
}

impl RmsNormKernel {
    pub(crate) fn new() -> Self {
        let mut spec = KernelSpec::new(ROW, "outside", DeviceKind::Cpu, &[&RMS_NORM_F32]);
        // Below every row of opweave's own: an override chooses it, or nothing does.
        spec.priority = -100;
        let covered = vec![vec![Some(DType::F32), None]];
        spec.needs = Needs::default().with(Domain::DTypes(vec!["dtype", "weight_dtype"], covered));
        RmsNormKernel { spec }
    }
}

impl Kernel<RmsNorm> for RmsNormKernel {
    fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    fn prepare(
        &self,
        problem: &RmsNormProblem,
        _context: &PrepareContext<'_>,
    ) -> Result<Arc<dyn Plan<RmsNorm>>, PrepareError> {
        Ok(Arc::new(RmsNormPlan { hidden_size: problem.hidden_size }))
    }
}

struct RmsNormPlan {
    hidden_size: usize,
}

impl Plan<RmsNorm> for RmsNormPlan {
    unsafe fn enqueue(&self, args: &RmsNormArgs, _: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        let (input, out) = (Rows::of(&args.input), Rows::of(&args.out));
        let (hidden_size, epsilon) = (self.hidden_size, f64::from(args.epsilon));
        let task = |row: usize| {
            // SAFETY: clause 2 of `Plan::enqueue`: both views are f32 rows of `hidden_size` elements, `row` is one of them.
            let (from, to) = unsafe { (input.row(row), out.row(row)) };
            // SAFETY: clause 2 and 3 of `Plan::enqueue`.
            let value = |column: usize| f64::from(unsafe { from.add(column).read() });
            let squares: f64 = (0..hidden_size).map(|column| value(column) * value(column)).sum();
            let factor = 1.0 / (squares / hidden_size as f64 + epsilon).sqrt();
            for column in 0..hidden_size {
                // SAFETY: clause 2 and 3 of `Plan::enqueue`; `out` may be `input` itself, so no slices are formed.
                unsafe { to.add(column).write((value(column) * factor) as f32) };
            }
        };
        stream.pool().run(args.input.shape()[0], &task);
        Ok(())
    }
}
