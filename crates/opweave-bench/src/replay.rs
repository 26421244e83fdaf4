// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The time of a call in a graph: a replay between two events, divided by the calls in it.

use opweave_device::{Event, Graph, Stream};

use crate::instruments::failed;
use crate::sampler::{Sample, SubjectError};

/// Two events of a stream.
pub(crate) struct ReplayTimer {
    before: Box<dyn Event>,
    after: Box<dyn Event>,
}

impl ReplayTimer {
    pub(crate) fn new(stream: &dyn Stream) -> Result<Self, SubjectError> {
        Ok(ReplayTimer { before: stream.event().map_err(failed)?, after: stream.event().map_err(failed)? })
    }

    /// Replays a graph of `calls` calls on the stream of the events, and waits for it.
    pub(crate) fn replay(
        &mut self,
        graph: &dyn Graph,
        stream: &dyn Stream,
        calls: usize,
    ) -> Result<Sample, SubjectError> {
        self.before.record(stream.borrow()).map_err(failed)?;
        graph.replay(stream.borrow()).map_err(failed)?;
        self.after.record(stream.borrow()).map_err(failed)?;
        stream.synchronize().map_err(failed)?;
        let us = self.after.elapsed_us(&*self.before).map_err(failed)?;
        Ok(Sample::completion(us / calls as f64))
    }
}
