// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The processes of a distributed run: which of them this one is, how they find each other, and what they tell each other.
//!
//! [`World::of`] reads what a launcher says. [`join`] brings the ranks together through rank 0, and answers [`Ranks`], all
//! that a run asks of its peers. [`agree()`] compares what must be equal before anything runs.
//!
//! Nothing here waits without an end. A rank that dies is noticed by its connection, one that is merely silent by a
//! deadline, and either way all others learn who it was. What arrives is limited in length and read as data, so whoever
//! else connects is turned away.

mod accept;
mod agree;
mod error;
mod frame;
mod hub;
mod member;
mod world;

pub use agree::{Difference, Disagreement, Statement, Unable, agree};
pub use error::{Ending, RanksError};
pub use frame::SAY_LIMIT;
pub use member::{Member, join};
pub use world::{LARGEST_WORLD, Rank, World, WorldError};

/// The other ranks, as a run sees them. Every method is collective: all ranks call the same ones in the same order.
///
/// Barriers and reductions on a device's streams are a matter of collectives, which take an `opweave_device::Communicator`.
pub trait Ranks {
    /// Which rank this process is.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Tells every rank `text` and answers what each of them told, in the order of ranks. `topic` says what this is about: it
    /// is compared, so that ranks which got out of step find out, and it names the place in errors.
    ///
    /// # Errors
    /// [`RanksError`] when a rank was lost, did not come in time or is elsewhere. It is the same error on all ranks that
    /// are left, and whatever is asked afterwards gets it again.
    fn exchange(&mut self, topic: &str, text: &str) -> Result<Vec<String>, RanksError>;
}

#[cfg(test)]
mod tests;
