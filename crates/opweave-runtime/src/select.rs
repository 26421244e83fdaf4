// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Selection: a pure function of the frozen registry, what is asked, and the device key.

use std::fmt;

use opweave_contract::{DynProblem, OpContract};
use opweave_device::DeviceKey;
use opweave_registry::{Bucket, Considered, ExecutionMode, FrozenRegistry, Reject, Row, Verdict};

use crate::{Demands, LoadedProfile, Override};

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The operation.
    pub operation: &'a str,
    /// The problem; without one, contracts and needs are not looked at.
    pub problem: Option<&'a DynProblem>,
    /// The sizes.
    pub bucket: Bucket,
    /// The device.
    pub key: &'a DeviceKey,
    /// The execution mode.
    pub mode: ExecutionMode,
    /// Determinism and batch invariance, where demanded.
    pub demands: Demands,
    /// The override in force.
    pub overriding: Option<&'a Override>,
    /// The measured profile, if one is loaded and its digest matches.
    pub profile: Option<&'a LoadedProfile>,
}

/// Why the chosen row won.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Winner {
    /// The measured profile names it.
    Profile,
    /// An override names it, alone or as the best of its solution.
    Override(Override),
    /// It has the highest rank, or the smallest name among equals.
    Rank,
    /// The same, and the measured profile names a row that does not apply here, or is not there any more.
    RankOver {
        /// The row that the profile names.
        measured: String,
    },
}

impl fmt::Display for Winner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Winner::Profile => f.write_str("the measured profile names it"),
            Winner::Override(o) => write!(f, "override `{}` ({})", o.value, o.source),
            Winner::Rank => f.write_str("highest rank, then smallest name"),
            Winner::RankOver { measured } => {
                write!(
                    f,
                    "highest rank, then smallest name; the measured profile names {measured}, which does not apply"
                )
            }
        }
    }
}

/// A choice, and how it came about.
#[derive(Clone, Debug)]
pub struct Selection<'a> {
    /// The row that runs.
    pub row: &'a Row,
    /// Why it won.
    pub winner: Winner,
    /// Every row of the operation in ascending byte order of the names.
    pub considered: Vec<Considered>,
}

/// No row applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectionError {
    /// The operation.
    pub operation: String,
    /// The problem's facts, where one was stated.
    pub problem: Option<String>,
    /// The sizes.
    pub bucket: Bucket,
    /// The device.
    pub device: String,
    /// The execution mode.
    pub mode: ExecutionMode,
    /// The override in force.
    pub overriding: Option<Override>,
    /// Every row with its reason. Empty when the registry has none for the operation.
    pub considered: Vec<Considered>,
    /// Whether the registry has no row at all.
    pub registry_is_empty: bool,
}

impl std::error::Error for SelectionError {}

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no implementation of {} applies", self.operation)?;
        if let Some(problem) = &self.problem {
            write!(f, " to [{problem}]")?;
        }
        write!(f, " for bucket {} on {} in {} mode", self.bucket, self.device, self.mode)?;
        if let Some(o) = &self.overriding {
            write!(f, " under override `{}` ({})", o.value, o.source)?;
        }
        if self.registry_is_empty {
            return f.write_str(": the registry is empty");
        }
        if self.considered.is_empty() {
            return f.write_str(": no row is registered for it");
        }
        for row in &self.considered {
            if let Verdict::Rejected(reason) = &row.verdict {
                write!(f, "\n  {}: {reason}", row.name)?;
            }
        }
        Ok(())
    }
}

/// Chooses a row.
///
/// Visits rows in ascending byte order of name and takes for each the first failing test, in the order contract, device,
/// execution mode, availability, needs, determinism, override, as its one reason. Among the rest the measured profile
/// wins, else the highest rank, then the smallest name.
///
/// # Errors
/// [`SelectionError`] with every row and its reason.
pub fn select<'a>(registry: &'a FrozenRegistry, query: &Query<'_>) -> Result<Selection<'a>, SelectionError> {
    let full_name = query.overriding.is_some_and(|o| o.is_full_name(registry, query.operation));
    let rows: Vec<(&Row, Result<i32, Reject>)> =
        registry.rows_of(query.operation).map(|row| (row, judge(row, query, full_name))).collect();
    let eligible = || rows.iter().filter_map(|(row, verdict)| Some((*row, *verdict.as_ref().ok()?)));
    let named = query.profile.and_then(|p| p.implementation(query));
    let measured = named.and_then(|name| eligible().find(|(row, _)| row.spec().name == name));
    // Rows come in ascending order of name and `max_by_key` keeps the last maximum, so reverse for the smallest name.
    let best = || eligible().collect::<Vec<_>>().into_iter().rev().max_by_key(|&(_, rank)| rank);
    let (chosen, winner) = match (query.overriding, measured) {
        (Some(o), _) => (best(), Winner::Override(o.clone())),
        (None, Some(row)) => (Some(row), Winner::Profile),
        (None, None) => (best(), named.map_or(Winner::Rank, |name| Winner::RankOver { measured: name.to_owned() })),
    };
    let considered = rows.iter().map(|(row, verdict)| Considered {
        name: row.spec().name.clone(),
        verdict: match verdict {
            Ok(rank) if chosen.is_some_and(|(c, _)| std::ptr::eq(c, *row)) => Verdict::Chosen { rank: *rank },
            Ok(rank) => Verdict::Eligible { rank: *rank },
            Err(reason) => Verdict::Rejected(reason.clone()),
        },
    });
    let considered: Vec<Considered> = considered.collect();
    match chosen {
        Some((row, _)) => Ok(Selection { row, winner, considered }),
        None => Err(SelectionError {
            operation: query.operation.to_owned(),
            problem: query.problem.map(|p| p.facts().to_string()),
            bucket: query.bucket,
            device: query.key.to_string(),
            mode: query.mode,
            overriding: query.overriding.cloned(),
            considered,
            registry_is_empty: registry.rows().next().is_none(),
        }),
    }
}

/// The rank of a row, or the first reason against it.
fn judge(row: &Row, query: &Query<'_>, full_name: bool) -> Result<i32, Reject> {
    let spec = row.spec();
    if let Some(problem) = query.problem {
        check_contract(&spec.contracts, problem.contract())?;
    }
    if spec.device != query.key.kind() {
        return Err(Reject::Device { asked: query.key.kind(), has: spec.device });
    }
    spec.needs.admits_device(query.key)?;
    if !spec.modes.contains(&query.mode) {
        return Err(Reject::Mode { asked: query.mode, has: spec.modes.clone() });
    }
    let kernel = row.erased().map_err(Reject::clone)?;
    let mut rank = spec.priority;
    if let Some(problem) = query.problem {
        if let Some(specs) = problem.describe() {
            spec.needs.admits(&specs, problem.facts(), query.key)?;
        }
        kernel.residual(problem, query.bucket, query.key)?;
        rank = kernel.rank(problem, query.bucket, query.key);
    }
    if query.demands.deterministic && !spec.deterministic {
        return Err(Reject::Determinism { demand: "deterministic" });
    }
    if query.demands.batch_invariant && !spec.batch_invariant {
        return Err(Reject::Determinism { demand: "batch-invariant" });
    }
    match query.overriding {
        Some(o) if !o.matches(row, full_name) => {
            Err(Reject::Override { value: o.value.clone(), source_of: o.source.to_string() })
        }
        _ => Ok(rank),
    }
}

fn check_contract(has: &[&'static OpContract], asked: &OpContract) -> Result<(), Reject> {
    if has.iter().any(|c| **c == *asked) {
        return Ok(());
    }
    Err(Reject::Contract { asked: asked.label(), has: has.iter().map(|c| c.label()).collect() })
}
