// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Why ranks do not come together, or part before the end.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What ended a run of several ranks, as rank 0 saw it and told all others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Ending {
    /// Ranks that did not come in time.
    Missing {
        /// The ranks.
        ranks: Vec<usize>,
        /// Where the others were.
        topic: String,
        /// How long they waited, in milliseconds.
        limit_ms: u64,
    },
    /// A rank that is no more.
    Lost {
        /// The rank.
        rank: usize,
        /// How that showed.
        why: String,
    },
    /// Ranks that are at different places.
    Apart {
        /// A rank.
        rank: usize,
        /// Where it is.
        topic: String,
        /// Where the ranks before it are.
        others: String,
    },
    /// A process that calls itself a rank of this run and cannot be one.
    Unfit {
        /// The rank that it claims to be.
        rank: usize,
        /// What is wrong with it.
        why: String,
    },
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Missing { ranks, topic, limit_ms } => {
                let limit = Seconds(Duration::from_millis(*limit_ms));
                write!(f, "wait for {} at `{topic}`: no word within {limit}", Named(ranks))
            }
            Ending::Lost { rank, why } => write!(f, "go on without rank {rank}: {why}"),
            Ending::Apart { rank, topic, others } => {
                write!(f, "keep step: rank {rank} is at `{topic}` while others are at `{others}`")
            }
            Ending::Unfit { rank, why } => write!(f, "take in rank {rank}: {why}"),
        }
    }
}

/// Why there is no exchange with the other ranks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RanksError {
    /// The address of the rendezvous means nothing.
    #[error("find the address of rank 0, MASTER_ADDR `{address}`: {reason}")]
    Address {
        /// What was given.
        address: String,
        /// The system's message.
        reason: String,
    },
    /// Rank 0 cannot listen.
    #[error("listen as rank 0 on {address}: {reason}; MASTER_PORT must name a port that is free there")]
    Listen {
        /// The address.
        address: String,
        /// The system's message.
        reason: String,
    },
    /// Rank 0 does not answer.
    #[error("reach rank 0 at {address} within {}: {reason}", Seconds(*limit))]
    Unreachable {
        /// The address.
        address: String,
        /// How long was tried.
        limit: Duration,
        /// What the last attempt came to.
        reason: String,
    },
    /// The run ended for all ranks.
    #[error("{0}")]
    Ended(Ending),
    /// The connection to rank 0 broke.
    #[error("go on without rank 0 at `{topic}`: {reason}")]
    Broken {
        /// Where this rank was.
        topic: String,
        /// How it broke.
        reason: String,
    },
    /// More than one message may hold.
    #[error("tell the other ranks {bytes} bytes at `{topic}`: at most {limit} go into a message")]
    TooLong {
        /// Where this rank was.
        topic: String,
        /// The length.
        bytes: usize,
        /// The most.
        limit: usize,
    },
}

/// A time in seconds.
pub(crate) struct Seconds(pub(crate) Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_secs_f64())
    }
}

/// `rank 1`, `ranks 1, 2 and 3`.
pub(crate) struct Named<'a>(pub(crate) &'a [usize]);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("no rank"),
            [one] => write!(f, "rank {one}"),
            [first @ .., last] => {
                let first: Vec<String> = first.iter().map(usize::to_string).collect();
                write!(f, "ranks {} and {last}", first.join(", "))
            }
        }
    }
}
