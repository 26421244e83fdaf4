// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a launcher says in the environment: which rank this process is, of how many, and where rank 0 listens.

use std::num::NonZero;
use std::ops::RangeInclusive;

/// Most ranks of a run.
pub const LARGEST_WORLD: usize = 1024;

/// Names a port of its own, in place of `MASTER_PORT`.
const OWN_PORT: &str = "OPWEAVE_MASTER_PORT";

/// Names a run, where several of one launcher could meet at one port.
const OWN_RUN: &str = "OPWEAVE_RUN_ID";

/// A launcher, by the names that it uses.
struct Launcher {
    name: &'static str,
    rank: &'static str,
    size: &'static str,
    local: &'static str,
    /// What tells its runs apart.
    run: &'static str,
}

/// In the order in which they are asked: one that was started by another wins over that.
const LAUNCHERS: [Launcher; 3] = [
    Launcher { name: "torchrun", rank: "RANK", size: "WORLD_SIZE", local: "LOCAL_RANK", run: "TORCHELASTIC_RUN_ID" },
    Launcher {
        name: "Open MPI",
        rank: "OMPI_COMM_WORLD_RANK",
        size: "OMPI_COMM_WORLD_SIZE",
        local: "OMPI_COMM_WORLD_LOCAL_RANK",
        run: "OMPI_MCA_ess_base_jobid",
    },
    // Only `srun` sets the size of a step; a batch script sees the rest too, and is one process.
    Launcher {
        name: "Slurm",
        rank: "SLURM_PROCID",
        size: "SLURM_STEP_NUM_TASKS",
        local: "SLURM_LOCALID",
        run: "SLURM_JOB_ID",
    },
];

/// One process of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Which one.
    pub rank: usize,
    /// Of how many, two or more.
    pub size: usize,
    /// Which one on its host.
    pub local_rank: usize,
    /// The host on which rank 0 listens.
    pub address: String,
    /// The port.
    pub port: u16,
    /// What sets this run apart from others of the launcher; may be empty.
    pub run: String,
}

/// What the environment says of other processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    launcher: Option<&'static str>,
    size: usize,
}

/// An environment that describes no run of several ranks, or one where none was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// No launcher spoke.
    #[error(
        "find the ranks of a distributed run: the environment has none; torchrun, mpirun and srun set them, \
         by hand RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT do"
    )]
    NoLauncher,
    /// A launcher that says a part.
    #[error("find the ranks of a distributed run: {launcher} sets {set}, and {missing} is not set")]
    Incomplete {
        /// The launcher.
        launcher: &'static str,
        /// What it set.
        set: &'static str,
        /// What is missing.
        missing: &'static str,
    },
    /// A value that cannot be.
    #[error("take {name}=`{value}`: expected {legal}")]
    Value {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// The legal set.
        legal: String,
    },
    /// `--distributed` with one rank.
    #[error(
        "run distributed with {size} rank: expected 2 to {LARGEST_WORLD}; without --distributed one process runs alone"
    )]
    Alone {
        /// How many there are.
        size: usize,
    },
    /// Several ranks without `--distributed`.
    #[error(
        "run alone as one of {size} ranks that {launcher} started: expected --distributed, or one process; \
         each rank would measure while the others do"
    )]
    Several {
        /// The launcher.
        launcher: &'static str,
        /// How many there are.
        size: usize,
    },
}

type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

impl World {
    /// What the environment says of other processes, whether or not they are to run together.
    ///
    /// # Errors
    /// [`WorldError::Value`] for a size that is none.
    pub fn of(lookup: Lookup<'_>) -> Result<World, WorldError> {
        let Some(launcher) = LAUNCHERS.iter().find(|l| set(lookup, l.size).is_some()) else {
            return Ok(World { launcher: None, size: 1 });
        };
        let size = number(lookup, launcher.size, 1..=LARGEST_WORLD)?.unwrap_or(1);
        Ok(World { launcher: Some(launcher.name), size })
    }

    /// Accepts a run of one process.
    ///
    /// # Errors
    /// [`WorldError::Several`] where there are more.
    pub fn alone(&self) -> Result<(), WorldError> {
        match self.launcher {
            Some(launcher) if self.size > 1 => Err(WorldError::Several { launcher, size: self.size }),
            _ => Ok(()),
        }
    }
}

impl Rank {
    /// This process as a rank of a run of several.
    ///
    /// # Errors
    /// [`WorldError`]: a variable is missing or means nothing, or there is one rank only.
    pub fn of(lookup: Lookup<'_>) -> Result<Rank, WorldError> {
        let spoke = |l: &&Launcher| set(lookup, l.rank).is_some() || set(lookup, l.size).is_some();
        let launcher = LAUNCHERS.iter().find(spoke).ok_or(WorldError::NoLauncher)?;
        let seen = if set(lookup, launcher.rank).is_some() { launcher.rank } else { launcher.size };
        let missing = |name| WorldError::Incomplete { launcher: launcher.name, set: seen, missing: name };
        let size = number(lookup, launcher.size, 1..=LARGEST_WORLD)?.ok_or(missing(launcher.size))?;
        if size < 2 {
            return Err(WorldError::Alone { size });
        }
        let rank = number(lookup, launcher.rank, 0..=size - 1)?.ok_or(missing(launcher.rank))?;
        let local_rank = number(lookup, launcher.local, 0..=size - 1)?.ok_or(missing(launcher.local))?;
        let address = set(lookup, "MASTER_ADDR").ok_or(missing("MASTER_ADDR"))?;
        let port = match port(lookup, OWN_PORT)? {
            Some(port) => port,
            None => shared(lookup, port(lookup, "MASTER_PORT")?.ok_or(missing("MASTER_PORT"))?)?,
        }
        .get();
        let run = set(lookup, OWN_RUN).or_else(|| set(lookup, launcher.run)).unwrap_or_default();
        Ok(Rank { rank, size, local_rank, address, port, run })
    }
}

/// The port next to `port` where torchrun's agent listens on that one itself.
fn shared(lookup: Lookup<'_>, port: NonZero<u16>) -> Result<NonZero<u16>, WorldError> {
    if set(lookup, "TORCHELASTIC_USE_AGENT_STORE").as_deref() != Some("True") {
        return Ok(port);
    }
    port.checked_add(1).ok_or_else(|| WorldError::Value {
        name: "MASTER_PORT",
        value: port.to_string(),
        legal: format!("1 to 65534 under torchrun, which listens there itself, or {OWN_PORT}"),
    })
}

fn port(lookup: Lookup<'_>, name: &'static str) -> Result<Option<NonZero<u16>>, WorldError> {
    let number = number(lookup, name, 1..=usize::from(u16::MAX))?;
    Ok(number.and_then(|n| u16::try_from(n).ok()).and_then(NonZero::new))
}

/// A variable that has a value; a blank one is unset.
fn set(lookup: Lookup<'_>, name: &str) -> Option<String> {
    lookup(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn number(lookup: Lookup<'_>, name: &'static str, legal: RangeInclusive<usize>) -> Result<Option<usize>, WorldError> {
    let Some(value) = set(lookup, name) else { return Ok(None) };
    match value.parse() {
        Ok(number) if legal.contains(&number) => Ok(Some(number)),
        _ => {
            let legal = format!("an integer from {} to {}", legal.start(), legal.end());
            Err(WorldError::Value { name, value, legal })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(pairs: &[(&str, &str)]) -> Result<Rank, WorldError> {
        Rank::of(&|name| pairs.iter().rev().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
    }

    fn alone(pairs: &[(&str, &str)]) -> Result<(), WorldError> {
        World::of(&|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))?.alone()
    }

    const HAND: [(&str, &str); 5] =
        [("RANK", "1"), ("WORLD_SIZE", "4"), ("LOCAL_RANK", "1"), ("MASTER_ADDR", "node7"), ("MASTER_PORT", "29500")];

    fn hand(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
        HAND.iter().chain(more).copied().collect()
    }

    #[test]
    fn every_launcher_is_understood() {
        let expected =
            Rank { rank: 1, size: 4, local_rank: 1, address: "node7".into(), port: 29500, run: String::new() };
        assert_eq!(rank(&HAND), Ok(expected.clone()));
        let torchrun = hand(&[("TORCHELASTIC_RUN_ID", "r"), ("TORCHELASTIC_USE_AGENT_STORE", "True")]);
        assert_eq!(rank(&torchrun), Ok(Rank { port: 29501, run: "r".into(), ..expected.clone() }));
        let own = hand(&[("OPWEAVE_MASTER_PORT", "4000"), ("TORCHELASTIC_USE_AGENT_STORE", "True")]);
        assert_eq!(rank(&own), Ok(Rank { port: 4000, ..expected.clone() }));
        let mpi = [
            ("OMPI_COMM_WORLD_RANK", "1"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("OMPI_COMM_WORLD_LOCAL_RANK", "1"),
            ("OMPI_MCA_ess_base_jobid", "77"),
            ("MASTER_ADDR", "node7"),
            ("MASTER_PORT", "29500"),
        ];
        assert_eq!(rank(&mpi), Ok(Rank { run: "77".into(), ..expected.clone() }));
        let slurm = [
            ("SLURM_PROCID", "1"),
            ("SLURM_STEP_NUM_TASKS", "4"),
            ("SLURM_LOCALID", "1"),
            ("SLURM_JOB_ID", "12"),
            ("MASTER_ADDR", "node7"),
            ("MASTER_PORT", "29500"),
        ];
        assert_eq!(rank(&slurm), Ok(Rank { run: "12".into(), ..expected }));
        // torchrun within a step of Slurm: its ranks are those that run.
        let both: Vec<_> = HAND.iter().copied().chain([("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1")]).collect();
        assert_eq!(rank(&both).map(|r| (r.rank, r.size)), Ok((1, 4)));
    }

    #[test]
    fn values_that_cannot_be_are_refused_with_the_legal_set() {
        let cases = [
            ("RANK", "4", "an integer from 0 to 3"),
            ("RANK", "-1", "an integer from 0 to 3"),
            ("RANK", "one", "an integer from 0 to 3"),
            ("WORLD_SIZE", "1025", "an integer from 1 to 1024"),
            ("WORLD_SIZE", "0", "an integer from 1 to 1024"),
            ("LOCAL_RANK", "9", "an integer from 0 to 3"),
            ("MASTER_PORT", "0", "an integer from 1 to 65535"),
            ("MASTER_PORT", "65536", "an integer from 1 to 65535"),
            ("OPWEAVE_MASTER_PORT", "x", "an integer from 1 to 65535"),
        ];
        for (name, value, legal) in cases {
            let expected = WorldError::Value { name, value: value.to_owned(), legal: legal.to_owned() };
            assert_eq!(rank(&hand(&[(name, value)])), Err(expected));
        }
        let last = hand(&[("MASTER_PORT", "65535"), ("TORCHELASTIC_USE_AGENT_STORE", "True")]);
        assert!(rank(&last).unwrap_err().to_string().contains("OPWEAVE_MASTER_PORT"));
    }

    #[test]
    fn what_is_missing_is_named_and_blank_is_missing() {
        for (name, _) in &HAND[1..] {
            let text = rank(&hand(&[(name, " ")])).unwrap_err().to_string();
            assert!(text.contains("torchrun sets RANK") && text.contains(&format!("{name} is not set")), "{text}");
        }
        let text = rank(&hand(&[("RANK", "")])).unwrap_err().to_string();
        assert!(text.contains("torchrun sets WORLD_SIZE, and RANK is not set"), "{text}");
        assert_eq!(rank(&[]), Err(WorldError::NoLauncher));
        // A batch script of Slurm, which is one process.
        assert_eq!(alone(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")]), Ok(()));
    }

    #[test]
    fn several_ranks_and_one_are_both_refused_where_the_other_was_asked_for() {
        assert_eq!(rank(&hand(&[("WORLD_SIZE", "1"), ("RANK", "0")])), Err(WorldError::Alone { size: 1 }));
        assert_eq!(alone(&HAND), Err(WorldError::Several { launcher: "torchrun", size: 4 }));
        assert_eq!(alone(&[("WORLD_SIZE", "1")]), Ok(()));
        assert!(matches!(alone(&[("OMPI_COMM_WORLD_SIZE", "two")]), Err(WorldError::Value { .. })));
    }
}
