// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Inputs and references of the next cases, made by threads of their own while a device times the one before.
//!
//! A case of a hundred million elements takes the host seconds and a GPU microseconds. On a CPU device nothing runs beside
//! what is timed: there a case is made when its turn has come.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::thread::{Scope, ScopedJoinHandle, available_parallelism};

use opweave_device::DeviceKind;
use opweave_numerics::Mode;
use opweave_numerics::harness::{CaseError, PreparedSource};
use opweave_numerics::input::Generator;

use super::plan::Planned;

type Made = Result<Box<dyn PreparedSource>, CaseError>;

/// Most cases that are made ahead: each may hold some gigabytes.
const MOST: usize = 4;

/// Makes the fixtures of planned cases in their order.
pub(super) struct Ahead<'s, 'env> {
    scope: &'s Scope<'s, 'env>,
    generator: &'env Generator,
    left: std::slice::Iter<'env, Planned<'env>>,
    begun: VecDeque<ScopedJoinHandle<'s, Made>>,
    depth: usize,
    graph: bool,
}

impl<'s, 'env> Ahead<'s, 'env> {
    pub(super) fn new(
        scope: &'s Scope<'s, 'env>,
        generator: &'env Generator,
        planned: &'env [Planned<'env>],
        kind: DeviceKind,
        mode: Mode,
    ) -> Self {
        let spare = available_parallelism().map_or(0, |threads| threads.get() / 2);
        let depth = if kind == DeviceKind::Cpu { 0 } else { spare.min(MOST) };
        Ahead { scope, generator, left: planned.iter(), begun: VecDeque::new(), depth, graph: mode == Mode::Graph }
    }

    /// The fixture of the next case. The cases are those of the plan, in its order.
    pub(super) fn next(&mut self) -> Option<Made> {
        while self.begun.len() <= self.depth
            && let Some(planned) = self.left.next()
        {
            let generator = self.generator;
            if self.depth == 0 {
                return Some(planned.case.fixture(generator));
            }
            let graph = self.graph;
            self.begun.push_back(self.scope.spawn(move || {
                let made = planned.case.fixture(generator)?;
                if graph {
                    made.draw_changes()?;
                }
                Ok(made)
            }));
        }
        let made = self.begun.pop_front()?;
        Some(made.join().unwrap_or_else(|panic| resume_unwind(panic)))
    }
}
