// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What all ranks must have in common, compared before anything runs.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::Named;
use crate::{Ranks, RanksError};

/// Everything that must be the same on all ranks, by name.
pub type Statement = BTreeMap<String, String>;

/// Longest value that an error shows.
const SHOWN: usize = 120;

/// One thing that is not the same on all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What.
    pub name: String,
    /// What most ranks have; of as many, what the first of them has.
    pub common: String,
    /// The ranks that have it.
    pub ranks: Vec<usize>,
    /// The others, with what they have.
    pub odd: Vec<(usize, String)>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is ", self.name)?;
        for (rank, value) in &self.odd {
            write!(f, "`{}` on rank {rank}, ", shown(value))?;
        }
        write!(f, "`{}` on {}", shown(&self.common), Named(&self.ranks))
    }
}

fn shown(text: &str) -> String {
    let cut: String = text.chars().take(SHOWN).collect();
    if cut.len() < text.len() { cut + ".." } else { cut }
}

/// Why a rank cannot begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unable {
    /// The reason.
    pub reason: String,
    /// The exit code that it would end with by itself.
    pub exit_code: u8,
}

/// Why ranks do not begin together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disagreement {
    /// Ranks that cannot begin at all.
    #[error("begin on {}", all(.0))]
    Unable(Vec<(usize, Unable)>),
    /// Ranks that were asked for, or are, different things.
    #[error("begin, the ranks do not agree: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Differ(Vec<Difference>),
    /// The ranks did not hear each other.
    #[error(transparent)]
    Ranks(#[from] RanksError),
}

fn all(unable: &[(usize, Unable)]) -> String {
    let one = |(rank, unable): &(usize, Unable)| format!("rank {rank}: {}", unable.reason);
    unable.iter().map(one).collect::<Vec<_>>().join("; ")
}

impl Disagreement {
    /// The exit code that every rank ends with.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Unable(unable) => unable.first().map_or(1, |(_, unable)| unable.exit_code),
            Self::Differ(_) => 2,
            Self::Ranks(_) => 1,
        }
    }
}

#[derive(Serialize, Deserialize)]
enum Opening {
    Ready(Statement),
    Unable(Unable),
}

/// Compares what this rank has with what all others have. A rank that cannot begin says so here, instead of leaving the
/// others to their deadline.
///
/// # Errors
/// [`Disagreement`], the same on all ranks.
pub fn agree(ranks: &mut dyn Ranks, mine: Result<Statement, Unable>) -> Result<(), Disagreement> {
    const TOPIC: &str = "opening";
    let opening = match mine {
        Ok(statement) => Opening::Ready(statement),
        Err(unable) => Opening::Unable(Unable { reason: shown_long(&unable.reason), ..unable }),
    };
    // Neither maps of texts nor texts fail to be written.
    let text = serde_json::to_string(&opening).unwrap_or_default();
    let told = ranks.exchange(TOPIC, &text)?;
    let (mut statements, mut unable) = (Vec::new(), Vec::new());
    for (rank, text) in told.iter().enumerate() {
        match serde_json::from_str(text) {
            Ok(Opening::Ready(statement)) => statements.push(statement),
            Ok(Opening::Unable(why)) => unable.push((rank, why)),
            Err(error) => {
                unable.push((rank, Unable { reason: format!("it said nothing sensible: {error}"), exit_code: 1 }))
            }
        }
    }
    if !unable.is_empty() {
        return Err(Disagreement::Unable(unable));
    }
    let differences = differences(&statements);
    if differences.is_empty() { Ok(()) } else { Err(Disagreement::Differ(differences)) }
}

/// A reason may hold a list of everything known.
fn shown_long(reason: &str) -> String {
    reason.chars().take(4000).collect()
}

/// Every name under which the statements differ; one that lacks a name has nothing there.
fn differences(statements: &[Statement]) -> Vec<Difference> {
    let mut names: Vec<&String> = statements.iter().flat_map(BTreeMap::keys).collect();
    names.sort_unstable();
    names.dedup();
    let mut found = Vec::new();
    for name in names {
        let values: Vec<&str> = statements.iter().map(|s| s.get(name).map_or("", String::as_str)).collect();
        let having = |value: &str| values.iter().filter(|v| **v == value).count();
        // The last of equal maxima is taken, so the search goes backwards.
        let Some(common) = values.iter().rev().max_by_key(|v| having(v)) else { continue };
        let (same, odd): (Vec<_>, Vec<_>) = values.iter().enumerate().partition(|(_, value)| *value == common);
        if !odd.is_empty() {
            found.push(Difference {
                name: name.clone(),
                common: (*common).to_owned(),
                ranks: same.into_iter().map(|(rank, _)| rank).collect(),
                odd: odd.into_iter().map(|(rank, value)| (rank, (*value).to_owned())).collect(),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(pairs: &[(&str, &str)]) -> Statement {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn the_odd_ones_are_named_whichever_rank_they_are() {
        let with = |seed: &str| statement(&[("seed", seed), ("schema", "1")]);
        let text = |seeds: &[&str]| {
            let found = differences(&seeds.iter().map(|s| with(s)).collect::<Vec<_>>());
            found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(text(&["7", "7", "7"]), "");
        assert_eq!(text(&["7", "8", "7", "7"]), "seed is `8` on rank 1, `7` on ranks 0, 2 and 3");
        assert_eq!(text(&["8", "7", "7"]), "seed is `8` on rank 0, `7` on ranks 1 and 2");
        // Of two halves that of rank 0 counts as the common one.
        assert_eq!(text(&["7", "8"]), "seed is `8` on rank 1, `7` on rank 0");
        assert_eq!(text(&["7", "8", "9"]), "seed is `8` on rank 1, `9` on rank 2, `7` on rank 0");
    }

    #[test]
    fn a_name_that_a_rank_lacks_is_a_difference() {
        let found = differences(&[statement(&[("seed", "7"), ("label", "x")]), statement(&[("seed", "7")])]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "label is `` on rank 1, `x` on rank 0");
    }

    struct Heard(Vec<String>);

    impl Ranks for Heard {
        fn rank(&self) -> usize {
            0
        }
        fn size(&self) -> usize {
            1 + self.0.len()
        }
        fn exchange(&mut self, _: &str, text: &str) -> Result<Vec<String>, RanksError> {
            Ok(std::iter::once(text.to_owned()).chain(self.0.iter().cloned()).collect())
        }
    }

    #[test]
    fn a_rank_that_cannot_begin_ends_the_run_of_all_with_its_code() {
        let unable = Unable { reason: "operation `x` has no suite".to_owned(), exit_code: 2 };
        let other = serde_json::to_string(&Opening::Unable(unable.clone())).unwrap();
        let seen = agree(&mut Heard(vec![other]), Ok(Statement::new())).unwrap_err();
        assert_eq!(seen, Disagreement::Unable(vec![(1, unable)]));
        assert_eq!((seen.to_string().as_str(), seen.exit_code()), ("begin on rank 1: operation `x` has no suite", 2));
        for nonsense in ["", "[]", "{\"Ready\": 3}"] {
            let seen = agree(&mut Heard(vec![nonsense.to_owned()]), Ok(Statement::new())).unwrap_err();
            assert!(matches!(&seen, Disagreement::Unable(who) if who[0].0 == 1), "{seen}");
        }
    }
}
