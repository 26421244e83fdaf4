// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Samples that all ranks take together.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use opweave_numerics::distributed::{panicked, tell};
use opweave_numerics::harness::PreparedCase;
use opweave_ranks::{Ranks, RanksError};
use serde::{Deserialize, Serialize};

use super::super::arrange::Arrangement;
use super::super::case::Bench;
use crate::measurement::Cache;
use crate::protocol::{Counts, DISTRIBUTED_SAMPLES, DISTRIBUTED_WARMUP};
use crate::sampler::SampleError;

/// A rank's word at a barrier: nobody begins a span unless all go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Word {
    Go,
    Stop,
    Trouble(String),
}

/// What the ranks came to together.
pub(super) enum Outcome {
    /// All samples.
    Taken(Spans),
    /// A rank was told to stop.
    Stopped,
    /// A rank could not go on.
    Trouble(String),
}

/// The spans of all ranks in microseconds.
pub(super) struct Spans {
    rank: usize,
    ranks: Vec<Vec<f64>>,
    pub(super) method: String,
    /// From before the first meeting to after the last.
    pub(super) elapsed: Duration,
}

impl Spans {
    /// Those of this rank.
    pub(super) fn own(&self) -> &[f64] {
        &self.ranks[self.rank]
    }

    /// The longest of each sample.
    pub(super) fn longest(&self) -> Vec<f64> {
        let at = |sample: usize| self.ranks.iter().map(|spans| spans[sample]).fold(0.0, f64::max);
        (0..self.ranks[0].len()).map(at).collect()
    }

    /// Which rank was the last most often.
    pub(super) fn slowest(&self) -> String {
        let mut times = vec![0; self.ranks.len()];
        for (sample, longest) in self.longest().into_iter().enumerate() {
            if let Some(rank) = self.ranks.iter().position(|spans| spans[sample] >= longest) {
                times[rank] += 1;
            }
        }
        let most = times.iter().copied().max().unwrap_or(0);
        let rank = times.iter().position(|n| *n == most).unwrap_or(0);
        format!("rank {rank} was the last in {most} of {} samples", self.longest().len())
    }
}

/// The counts of every distributed series.
pub(super) fn counts() -> Counts {
    Counts { estimate_us: 0.0, warmup: DISTRIBUTED_WARMUP, samples: DISTRIBUTED_SAMPLES, no_verdict: None }
}

/// Takes the samples of a case in one cache state on all ranks.
pub(super) fn spans(
    bench: &Bench<'_>,
    prepared: &dyn PreparedCase,
    cache: Cache,
    ranks: &mut dyn Ranks,
) -> Result<Outcome, RanksError> {
    let interrupt = bench.ground.numerics.interrupt;
    let made = caught(|| {
        let Arrangement { arranged, method } = bench.arrange(prepared, cache)?;
        let mut subjects = bench.subjects(&[prepared], &arranged)?;
        Ok((subjects.pop().ok_or(SampleError::Nothing)?, method))
    });
    let (mut subject, method, mut trouble) = match made {
        Ok((subject, method)) => (Some(subject), method, None),
        Err(why) => (None, String::new(), Some(why)),
    };
    let start = Instant::now();
    let mut own = Vec::new();
    for sample in 0..DISTRIBUTED_WARMUP + DISTRIBUTED_SAMPLES {
        if let (Some(subject), None) = (&mut subject, &trouble) {
            trouble = caught(|| Ok(subject.before_sample()?)).err();
        }
        if let Some(ended) = meet(ranks, cache, sample, interrupt.requested(), &trouble)? {
            return Ok(ended);
        }
        if let Some(subject) = &mut subject {
            match caught(|| Ok(subject.sample()?.completion_us)) {
                Ok(us) if sample >= DISTRIBUTED_WARMUP => own.push(us),
                Ok(_) => {}
                Err(why) => trouble = Some(why),
            }
        }
    }
    let last = DISTRIBUTED_WARMUP + DISTRIBUTED_SAMPLES;
    if let Some(ended) = meet(ranks, cache, last, interrupt.requested(), &trouble)? {
        return Ok(ended);
    }
    let told: Vec<Vec<f64>> = tell(ranks, &format!("{cache} spans"), &own)?;
    if let Some(rank) = told.iter().position(|spans| spans.len() as u64 != DISTRIBUTED_SAMPLES) {
        return Ok(Outcome::Trouble(format!(
            "rank {rank}: it has {} samples of {DISTRIBUTED_SAMPLES}",
            told[rank].len()
        )));
    }
    Ok(Outcome::Taken(Spans { rank: ranks.rank(), ranks: told, method, elapsed: start.elapsed() }))
}

/// The barrier before a sample: answers why there is none, if so.
fn meet(
    ranks: &mut dyn Ranks,
    cache: Cache,
    sample: u64,
    stop: bool,
    trouble: &Option<String>,
) -> Result<Option<Outcome>, RanksError> {
    let word = match trouble {
        Some(why) => Word::Trouble(why.clone()),
        None if stop => Word::Stop,
        None => Word::Go,
    };
    let words: Vec<Word> = tell(ranks, &format!("{cache} sample {sample}"), &word)?;
    if words.contains(&Word::Stop) {
        return Ok(Some(Outcome::Stopped));
    }
    let troubled = words.into_iter().enumerate().find_map(|(rank, word)| match word {
        Word::Trouble(why) => Some(format!("rank {rank}: {why}")),
        Word::Go | Word::Stop => None,
    });
    Ok(troubled.map(Outcome::Trouble))
}

/// What a step came to, in words where it failed or panicked.
fn caught<T>(step: impl FnOnce() -> Result<T, SampleError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(panic) => Err(panicked(&*panic)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_the_longest_span_and_the_slowest_rank_is_named() {
        let ranks = vec![vec![1.0, 5.0, 3.0, 2.0], vec![2.0, 4.0, 9.0, 2.0]];
        let spans = Spans { rank: 1, ranks, method: String::new(), elapsed: Duration::ZERO };
        assert_eq!(spans.longest(), [2.0, 5.0, 9.0, 2.0]);
        assert_eq!(spans.own(), [2.0, 4.0, 9.0, 2.0]);
        // Of equals the first counts: two each, so the first is named.
        assert_eq!(spans.slowest(), "rank 0 was the last in 2 of 4 samples");
    }
}
