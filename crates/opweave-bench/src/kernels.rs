// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The time of a call by the device's records of its kernels: their sum, without what lies between them, and their span.

use opweave_device::{Activity, KernelSpan, Stream};
use thiserror::Error;

use crate::instruments::failed;
use crate::sampler::{Sample, SubjectError};

/// What is timed left no record.
#[derive(Debug, Error)]
#[error("the device recorded no kernel of what was timed: `event` and `graph` time whatever runs")]
struct Unrecorded;

/// Forgets the kernels of what was prepared, once all of them have run.
pub(crate) fn forget(activity: &dyn Activity, stream: &dyn Stream) -> Result<(), SubjectError> {
    stream.synchronize().map_err(failed)?;
    activity.take().map_err(failed).map(drop)
}

/// The sample of `calls` calls that were enqueued since, once they have run.
pub(crate) fn sample(activity: &dyn Activity, stream: &dyn Stream, calls: usize) -> Result<Sample, SubjectError> {
    stream.synchronize().map_err(failed)?;
    of(&activity.take().map_err(failed)?, calls)
}

fn of(spans: &[KernelSpan], calls: usize) -> Result<Sample, SubjectError> {
    let (Some(first), Some(last)) = (spans.iter().map(|s| s.start_ns).min(), spans.iter().map(|s| s.end_ns).max())
    else {
        return Err(failed(Unrecorded));
    };
    let us = |ns: u64| ns as f64 / 1e3 / calls as f64;
    let sum = spans.iter().map(|span| span.end_ns - span.start_ns).sum();
    Ok(Sample { completion_us: us(sum), enqueue_us: None, span_us: Some(us(last - first)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_summed_without_their_gaps_and_spanned_with_them() {
        let span = |start_ns, end_ns| KernelSpan { start_ns, end_ns };
        let sample = of(&[span(1000, 3000), span(5000, 6000)], 1).unwrap();
        assert_eq!((sample.completion_us, sample.span_us), (3.0, Some(5.0)));
        // A dependent launch begins before the one before it has ended.
        let sample = of(&[span(1000, 3000), span(2000, 5000)], 2).unwrap();
        assert_eq!((sample.completion_us, sample.span_us), (2.5, Some(2.0)));
        assert!(of(&[], 1).unwrap_err().to_string().contains("recorded no kernel"));
    }
}
