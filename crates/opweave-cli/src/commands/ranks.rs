// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The other processes of a run of `numerics` or `bench`.

use std::path::PathBuf;
use std::time::Duration;

use opweave_numerics::distributed::tell;
use opweave_ranks::{Member, Rank, Statement, Unable, World, agree, join as meet};

use super::ground;
use crate::args::SelectArgs;
use crate::exit::Failure;

/// How long others are told that this rank cannot begin: whoever comes later meets its own deadline.
const TELLING: Duration = Duration::from_secs(5);

/// This process as a rank, if the run is distributed.
pub(super) fn asked(args: &SelectArgs) -> Result<Option<Rank>, Failure> {
    let refused = |error| Failure::usage(format_args!("failed to {error}"));
    if args.distributed {
        return Rank::of(&lookup).map(Some).map_err(refused);
    }
    alone()?;
    Ok(None)
}

/// Refuses to run as one of several processes that know nothing of each other.
pub(super) fn alone() -> Result<(), Failure> {
    let world = World::of(&lookup).and_then(|world| world.alone());
    world.map_err(|error| Failure::usage(format_args!("failed to {error}")))
}

fn lookup(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Passes on what was made before the ranks meet; where it failed, the others are told why this one does not come.
pub(super) fn or_tell<T>(rank: Option<&Rank>, args: &SelectArgs, made: Result<T, Failure>) -> Result<T, Failure> {
    let (Some(rank), Err(failure)) = (rank, &made) else { return made };
    if let Ok(mut member) = meet(rank, limit(args).min(TELLING)) {
        let unable = Unable { reason: failure.to_string(), exit_code: failure.exit().code() };
        // It ends here in any case, with its own reason.
        let _ = agree(&mut member, Err(unable));
        member.leave();
    }
    made
}

/// Meets the other ranks, and hears from those that cannot begin.
pub(super) fn join(rank: &Rank, args: &SelectArgs) -> Result<Member, Failure> {
    let mut member = meet(rank, limit(args)).map_err(broken)?;
    match agree(&mut member, Ok(Statement::new())) {
        Ok(()) => Ok(member),
        Err(disagreement) => {
            member.leave();
            let text = anyhow::anyhow!("failed to {disagreement}");
            Err(if disagreement.exit_code() == 2 { Failure::Usage(text) } else { Failure::Broken(text) })
        }
    }
}

/// Where the report of all goes: what was asked for, or a new file that rank 0 names.
pub(super) fn output(args: &SelectArgs, command: &str, member: &mut Member) -> Result<PathBuf, Failure> {
    let told = tell(member, "output", &ground::output(args, command)).map_err(broken)?;
    let named = told.into_iter().next().filter(|_| args.output.is_none());
    Ok(named.unwrap_or_else(|| ground::output(args, command)))
}

fn broken(error: opweave_ranks::RanksError) -> Failure {
    Failure::Broken(anyhow::anyhow!("failed to {error}"))
}

fn limit(args: &SelectArgs) -> Duration {
    Duration::from_secs(args.rank_limit)
}
