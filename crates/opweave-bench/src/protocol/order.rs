// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The order of turns, which takes a steady drift out of a comparison.
//!
//! A device heats up and whoever runs second loses. Rounds alternate the order - A B, then B A - so that both
//! implementations have the same mean place in the run and a linear drift cancels. An odd number of rounds would leave
//! one A B over; that last round is taken in halves, A B B A.

/// How much of a round's samples one turn takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// All of them.
    Whole,
    /// The first half, rounded up.
    FirstHalf,
    /// What the first half left.
    SecondHalf,
}

impl Share {
    /// Samples of this turn out of those of the round.
    #[must_use]
    pub fn of(self, samples: u64) -> u64 {
        match self {
            Self::Whole => samples,
            Self::FirstHalf => samples.div_ceil(2),
            Self::SecondHalf => samples / 2,
        }
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

/// All turns of a run in order.
#[must_use]
pub fn schedule(subjects: usize, rounds: u32) -> Vec<Turn> {
    let forward = 0..subjects;
    let mut turns = Vec::new();
    for round in 0..rounds {
        let odd_one_out = subjects > 1 && round + 1 == rounds && rounds % 2 == 1;
        let mut push = |subject, share| turns.push(Turn { round, subject, share });
        if odd_one_out {
            forward.clone().for_each(|s| push(s, Share::FirstHalf));
            forward.clone().rev().for_each(|s| push(s, Share::SecondHalf));
        } else if round % 2 == 0 {
            forward.clone().for_each(|s| push(s, Share::Whole));
        } else {
            forward.clone().rev().for_each(|s| push(s, Share::Whole));
        }
    }
    turns
}

/// The order in words for the report: `A B | B A | A/2 B/2 B/2 A/2`.
#[must_use]
pub fn in_words(turns: &[Turn]) -> String {
    let mut words = String::new();
    let mut round = 0;
    for turn in turns {
        if turn.round != round {
            words.push_str(" |");
            round = turn.round;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        // More than 26 implementations at once would be no comparison; past Z the number itself is clear enough.
        match u8::try_from(turn.subject).ok().filter(|s| *s < 26) {
            Some(s) => words.push(char::from(b'A' + s)),
            None => words.push_str(&turn.subject.to_string()),
        }
        if turn.share != Share::Whole {
            words.push_str("/2");
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_counterbalanced() {
        assert_eq!(in_words(&schedule(1, 3)), "A | A | A");
        assert_eq!(in_words(&schedule(2, 4)), "A B | B A | A B | B A");
        assert_eq!(in_words(&schedule(2, 5)), "A B | B A | A B | B A | A/2 B/2 B/2 A/2");
        assert_eq!(in_words(&schedule(3, 2)), "A B C | C B A");
    }

    #[test]
    fn a_linear_drift_cancels_for_any_number_of_rounds() {
        for rounds in 1..9 {
            let mut clock = 0.0;
            let mut sums = [0.0; 2];
            for turn in schedule(2, rounds) {
                for _ in 0..turn.share.of(20) {
                    sums[turn.subject] += clock;
                    clock += 1.0;
                }
            }
            // One round of one turn each cannot balance in pairs and is halved instead.
            assert_eq!(sums[0], sums[1], "{rounds} rounds");
        }
    }

    #[test]
    fn halves_add_up() {
        for n in [1, 2, 7, 10] {
            assert_eq!(Share::FirstHalf.of(n) + Share::SecondHalf.of(n), n);
        }
    }
}
