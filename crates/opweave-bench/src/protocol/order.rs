// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The order of turns, which takes a drift out of a comparison.
//!
//! A device heats up, and memory of a shared machine has fast and slow minutes: whoever runs second loses. Each round is cut into
//! short turns, A B B A and again, so that every implementation has the same mean place in the round, a linear drift cancels, and
//! states that last longer than a turn meet all of them.

/// How much of a round's samples one turn takes: one of equal parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which, from 0.
    pub part: u64,
    /// Of how many.
    pub parts: u64,
}

impl Share {
    /// Samples of this turn out of those of the round.
    #[must_use]
    pub fn of(self, samples: u64) -> u64 {
        let (from, to) = self.bounds(samples);
        to - from
    }

    /// The samples of this turn among those of the round.
    #[must_use]
    pub fn slice<T>(self, samples: &[T]) -> &[T] {
        let (from, to) = self.bounds(samples.len() as u64);
        &samples[from as usize..to as usize]
    }

    fn bounds(self, samples: u64) -> (u64, u64) {
        let until = |part: u64| (u128::from(samples) * u128::from(part) / u128::from(self.parts)) as u64;
        (until(self.part), until(self.part + 1))
    }
}

/// One turn of one implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The round, from 0.
    pub round: u32,
    /// The implementation, by position.
    pub subject: usize,
    /// How much of the round it takes.
    pub share: Share,
}

/// All turns of a run in order: `turns` for each implementation in each round, an even number of them unless there is only one
/// implementation, which takes each round whole.
#[must_use]
pub fn schedule(subjects: usize, rounds: u32, turns: u32) -> Vec<Turn> {
    let parts = if subjects > 1 { u64::from(turns).next_multiple_of(2) } else { 1 };
    let mut all = Vec::new();
    for round in 0..rounds {
        for part in 0..parts {
            let mut push = |subject| all.push(Turn { round, subject, share: Share { part, parts } });
            if part % 2 == 0 { (0..subjects).for_each(&mut push) } else { (0..subjects).rev().for_each(&mut push) }
        }
    }
    all
}

/// The order of a round in words for the report: `A B B A, 8 times`.
#[must_use]
pub fn in_words(turns: &[Turn]) -> String {
    // There and back again is what repeats.
    let once = turns.iter().filter(|turn| turn.round == 0 && turn.share.part < 2);
    // More than 26 implementations at once would be no comparison; past Z the number itself is clear enough.
    let name = |turn: &Turn| match u8::try_from(turn.subject).ok().filter(|s| *s < 26) {
        Some(s) => char::from(b'A' + s).to_string(),
        None => turn.subject.to_string(),
    };
    let mut words = once.map(name).collect::<Vec<_>>().join(" ");
    if let Some(times) = turns.first().map(|turn| turn.share.parts / 2).filter(|times| *times > 1) {
        words.push_str(&format!(", {times} times"));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_counterbalanced() {
        assert_eq!(in_words(&schedule(1, 3, 8)), "A");
        assert_eq!(in_words(&schedule(2, 4, 2)), "A B B A");
        assert_eq!(in_words(&schedule(2, 5, 4)), "A B B A, 2 times");
        assert_eq!(in_words(&schedule(3, 2, 1)), "A B C C B A");
        assert_eq!(schedule(2, 5, 4).len(), 40);
    }

    #[test]
    fn a_linear_drift_cancels_in_each_round() {
        for (rounds, turns) in [(1, 2), (5, 4), (3, 8)] {
            let (mut clock, mut sums) = (0.0, vec![[0.0; 2]; rounds as usize]);
            for turn in schedule(2, rounds, turns) {
                for _ in 0..turn.share.of(24) {
                    sums[turn.round as usize][turn.subject] += clock;
                    clock += 1.0;
                }
            }
            assert!(sums.iter().all(|[a, b]| a == b), "{rounds} rounds of {turns}: {sums:?}");
        }
    }

    #[test]
    fn parts_add_up() {
        for n in [0, 1, 2, 7, 10, 100_000, u64::MAX] {
            for parts in [1, 2, 8] {
                assert_eq!((0..parts).map(|part| Share { part, parts }.of(n)).sum::<u64>(), n);
            }
        }
    }
}
