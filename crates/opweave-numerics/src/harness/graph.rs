// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Validation through a captured graph.

use std::sync::Arc;

use opweave_reference::Reference;

use super::fixture::Seed;
use super::instance::Instance;
use super::{CaseError, How, Judgement};
use crate::report::FindingKind;

impl<O: Reference> Instance<O> {
    /// Captures two calls with stale inputs, changes the inputs in place, replays, and judges the outputs of both calls;
    /// then changes them again and replays again.
    ///
    /// A graph that baked values in, that runs only its last call, or that ran at capture is found by this and by nothing
    /// less.
    pub(super) fn graph(&mut self, how: &How<'_>) -> Result<Judgement, CaseError> {
        let mut judgement = Judgement::default();
        let (Some(stale), Some(other)) = (self.fixture.again(Seed::AfterNext)?, self.fixture.again(Seed::Next)?) else {
            return Err(CaseError::Environment("this fixture cannot be drawn again under another seed".to_owned()));
        };
        let mut second = Instance::new(other, Arc::clone(&self.common))?;
        self.load(&stale)?;
        second.load(&stale)?;
        let graph = self.capture(&second)?;
        (how.watch)()?;
        // A driver's graph holds launches, and a call that writes nothing need not launch anything.
        let idle = self.fixture.case.cost().bytes_written == 0;
        if graph.is_counted() && graph.calls() != 2 && !(idle && graph.calls() == 0) {
            judgement.find(FindingKind::Graph, format!("the graph holds {} calls; 2 were captured", graph.calls()));
        }
        for (part, instance) in [("first", &*self), ("second", &second)] {
            if let Some((name, _)) = instance.fixture.differing_outputs(&stale.before, &instance.fetch()?).first() {
                let text = format!("the {part} call wrote `{name}` while it was captured");
                judgement.find(FindingKind::Graph, text);
            }
        }
        let fixture = Arc::clone(&self.fixture);
        self.load(&fixture)?;
        let fixture = Arc::clone(&second.fixture);
        second.load(&fixture)?;
        // Both calls write one buffer.
        let expected = [&*self.fixture.faults, &*second.fixture.faults].concat();
        let mut first_replay = None;
        for run in 1..=how.repeat {
            if run > 1 {
                let fixture = Arc::clone(&self.fixture);
                self.load(&fixture)?;
                let fixture = Arc::clone(&second.fixture);
                second.load(&fixture)?;
            }
            graph.replay(self.stream.borrow().with_faults(&*self.faults))?;
            self.settle(Ok(()), &expected, &mut judgement)?;
            (how.watch)()?;
            let images = self.fetch()?;
            match &first_replay {
                None => {
                    let values = self.fixture.judge(&images)?;
                    judgement.findings.extend(values.findings);
                    judgement.leaves = values.leaves;
                    judgement.absorb(second.fixture.judge(&second.fetch()?)?, "second call of the graph");
                    first_replay = Some(images);
                }
                Some(first) if self.common.implementation.deterministic => {
                    if let Some((name, at)) = self.fixture.differing_outputs(first, &images).first() {
                        let text = format!("replay {run} differs from the first in `{name}`, at byte {at}");
                        judgement.find(FindingKind::Repeat, text);
                        break;
                    }
                }
                Some(_) => {}
            }
        }
        self.load(&stale)?;
        graph.replay(self.stream.borrow().with_faults(&*self.faults))?;
        let expected = [&*stale.faults, &*second.fixture.faults].concat();
        self.settle(Ok(()), &expected, &mut judgement)?;
        judgement.absorb(stale.judge(&self.fetch()?)?, "replay after the inputs changed again");
        // Twins take what this holds.
        let fixture = Arc::clone(&self.fixture);
        self.load(&fixture)?;
        Ok(judgement)
    }

    /// Captures this instance's call and then the other's.
    fn capture(&self, other: &Instance<O>) -> Result<Box<dyn opweave_device::Graph>, CaseError> {
        self.stream.begin_capture()?;
        let stream = self.stream.borrow().with_faults(&*self.faults);
        let captured = self.enqueue(stream).and_then(|()| other.enqueue(stream));
        // The capture ends whatever happened: the stream is used again.
        let graph = self.stream.end_capture()?;
        captured?;
        Ok(graph)
    }
}
