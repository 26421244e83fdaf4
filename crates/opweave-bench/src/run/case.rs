// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Times one case: ours, and its baseline if there is one, in turns.

use opweave_device::{DeviceKind, Instruments, Stream};
use opweave_numerics::harness::{CaseError, PreparedCase, PreparedSource};
use opweave_numerics::report::Implementation;
use opweave_numerics::{Mode, Verdict};

use super::cold::{Flush, MAX_SETS, Rotation};
use super::plan::{Choice, Planned};
use super::ready::{Ready, ready};
use super::series::{Timed, against, series};
use super::subject::{Captured, Eager, Replay};
use super::{BenchConfig, BenchGround, BenchProgress};
use crate::ceilings::{Ceilings, Probe};
use crate::measurement::{Cache, Timer};
use crate::protocol::{in_words, schedule};
use crate::report::{Row, RowStatus, Work};
use crate::sampler::{HostClock, SampleError, Subject, measure};

/// Sets of arguments that calls change, in one graph, where the host puts them back after each replay, one by one.
const CHANGING_SETS: usize = 32;

/// Memory that the sets of one graph may take in all.
const GRAPH_BYTES: u64 = 1 << 30;

/// Sets of arguments of all graphs of a series: each is some allocations, which take longer than a small call.
const ALL_SETS: usize = 512;

/// Calls that change their arguments in one graph, at least, though the caches may not hold so many sets: with fewer, the
/// start of the replay itself would be timed.
const CHANGING_CALLS: usize = 8;

/// What the cases of a run share.
pub(super) struct Bench<'a> {
    pub(super) config: &'a BenchConfig,
    pub(super) ground: &'a BenchGround<'a>,
    pub(super) stream: &'a dyn Stream,
    pub(super) timer: Timer,
    pub(super) clock: HostClock,
}

impl Bench<'_> {
    /// All rows of a case; the last element says whether the run was interrupted meanwhile.
    pub(super) fn case(
        &self,
        planned: &Planned<'_>,
        ceilings: &mut Ceilings,
        mut probe: Option<&mut (dyn Probe + '_)>,
        fixture: Result<Box<dyn PreparedSource>, CaseError>,
        progress: &mut dyn BenchProgress,
    ) -> (Vec<Row>, bool) {
        progress.part("validate");
        let mut rows = vec![self.blank(planned, &planned.ours, false)];
        rows.extend(planned.baseline.iter().map(|choice| self.blank(planned, choice, true)));
        let source = match fixture {
            Ok(source) => source,
            Err(error) => {
                rows.iter_mut().for_each(|row| settle(row, error.verdict(), None));
                return (rows, false);
            }
        };
        let choices = std::iter::once(&planned.ours).chain(&planned.baseline);
        let made: Vec<Ready> =
            choices.map(|choice| ready(self.config, self.ground, planned, choice, &*source)).collect();
        drop(source);
        for (row, ready) in rows.iter_mut().zip(&made) {
            settle(row, ready.verdict.clone(), ready.finding.clone());
            if let Some(prepared) = &ready.prepared {
                row.implementation = prepared.implementation().clone();
                row.preparation_us = Some(prepared.preparation_us());
            }
        }
        if self.ground.numerics.interrupt.requested() {
            rows.iter_mut().for_each(cancel);
            return (rows, true);
        }
        if !made[0].passed() {
            if let Some(baseline) = rows.get_mut(1).filter(|row| row.status == RowStatus::Ok) {
                skip(baseline, "ours did not pass, so there is nothing to compare it with");
            }
            return (rows, false);
        }
        let timed: Vec<usize> = (0..made.len()).filter(|&i| made[i].passed()).collect();
        let prepared: Vec<&dyn PreparedCase> = timed.iter().filter_map(|&i| made[i].prepared.as_deref()).collect();
        for &cache in &self.config.caches {
            progress.part(cache.name());
            match self.series(&prepared, cache, ceilings, probe.as_deref_mut()) {
                Ok(all) => {
                    for (&index, series) in timed.iter().zip(all) {
                        rows[index].series.extend(series);
                    }
                }
                Err(SampleError::Interrupted) => {
                    rows.iter_mut().for_each(cancel);
                    return (rows, true);
                }
                Err(error) => {
                    for &index in &timed {
                        rows[index].status = RowStatus::Fail;
                        rows[index].reason = Some(error.to_string());
                        rows[index].series.clear();
                    }
                    return (rows, false);
                }
            }
        }
        self.conclude(&mut rows, timed.len());
        (rows, false)
    }

    /// Ratios, and what a failed baseline means for ours.
    fn conclude(&self, rows: &mut [Row], timed: usize) {
        let order = in_words(&schedule(timed, self.config.protocol.rounds));
        for row in rows.iter_mut().filter(|row| row.status == RowStatus::Ok) {
            row.order = Some(order.clone());
        }
        let [ours, baseline] = rows else { return };
        if baseline.status == RowStatus::Ok {
            ours.against = against(ours, baseline);
        } else {
            ours.status = RowStatus::BaselineError;
            let why = crate::report::why_not(baseline);
            ours.reason = Some(format!("baseline {}: {why}", baseline.implementation.name));
        }
    }

    /// Every series of one cache state, for each implementation in order.
    fn series(
        &self,
        prepared: &[&dyn PreparedCase],
        cache: Cache,
        ceilings: &mut Ceilings,
        probe: Option<&mut (dyn Probe + '_)>,
    ) -> Result<Vec<Vec<crate::report::Series>>, SampleError> {
        let mut made = Vec::new();
        for case in prepared {
            made.push(self.subject(*case, cache)?);
        }
        let mut subjects: Vec<&mut dyn Subject> = made.iter_mut().map(|(subject, _, _)| &mut **subject as _).collect();
        let interrupt = self.ground.numerics.interrupt;
        let taken = measure(&mut subjects, &self.config.protocol, &self.clock, interrupt)?;
        let described: Vec<(usize, String)> = made.into_iter().map(|(_, calls, method)| (calls, method)).collect();
        let mut all = Vec::new();
        let work = work(prepared[0].cost());
        let ceiling = match probe {
            Some(probe) => ceilings.ensure(probe, work, cache, &self.clock, interrupt)?,
            None => None,
        };
        for (taken, (calls, cache_method)) in taken.iter().zip(described) {
            let timed = Timed { taken, timer: self.timer, cache, work, calls, cache_method, ceiling };
            all.push(series(&timed)?);
        }
        Ok(all)
    }

    /// The case as something to time, the calls in one sample, and how the caches are treated.
    fn subject<'s>(
        &'s self,
        case: &dyn PreparedCase,
        cache: Cache,
    ) -> Result<(Box<dyn Subject + 's>, usize, String), SampleError> {
        let last_level = self.ground.caches.last_level_bytes;
        let bytes = work(case.cost()).bytes();
        let twins = |count: usize| (0..count).map(|_| case.twin().map_err(crate::instruments::failed));
        let flush = || match self.ground.numerics.device {
            Ok(device) => Flush::new(&**device, self.ground.instruments, self.stream, last_level).map(Some),
            Err(_) => Ok(None),
        };
        if self.config.selectors.mode == Mode::Graph {
            let mut calls = self.graph_calls(case)?;
            let fit = |memory: u64| (memory / bytes.max(1)).clamp(1, calls as u64) as usize;
            let mut sets = match cache {
                Cache::Cold => fit(GRAPH_BYTES),
                Cache::Hot => fit(last_level / 2),
            };
            let ahead = self.ahead();
            if case.has_reset() {
                // Each call changes what it reads, so no set runs twice before it is put back.
                let most = if ahead.is_some() { ALL_SETS } else { CHANGING_SETS };
                calls = sets.max(CHANGING_CALLS).min(most);
                sets = calls;
            }
            let moved = bytes.saturating_mul(sets as u64);
            let rotation = Rotation::new(cache, moved, last_level, (ALL_SETS / sets) as u64);
            let mut graphs = Vec::with_capacity(rotation.sets);
            for _ in 0..rotation.sets {
                graphs.push(Captured::new(twins(sets).collect::<Result<_, _>>()?, calls, self.stream, ahead)?);
            }
            let flush = if rotation.flush { flush()? } else { None };
            let method = format!("graphs of {sets} sets of arguments: {}", rotation.words(cache, moved, last_level));
            return Ok((Box::new(Replay::new(graphs, calls, self.stream, flush)?), calls, method));
        }
        let rotation = Rotation::new(cache, bytes, last_level, MAX_SETS);
        let sets = twins(rotation.sets).collect::<Result<Vec<_>, _>>()?;
        let flush = if rotation.flush { flush()? } else { None };
        let method = format!("sets of arguments: {}", rotation.words(cache, bytes, last_level));
        Ok((Box::new(Eager::new(sets, self.stream, flush, self.timer)?), 1, method))
    }

    /// The instruments of a device that works by itself, where work can run ahead of what is timed.
    fn ahead(&self) -> Option<&dyn Instruments> {
        let device = self.ground.numerics.device.ok()?;
        self.ground.instruments.filter(|_| device.key().kind() != DeviceKind::Cpu)
    }

    /// Calls in a graph: the protocol's number, halved until ten replays fit half the time limit.
    fn graph_calls(&self, case: &dyn PreparedCase) -> Result<usize, SampleError> {
        let twin = case.twin().map_err(crate::instruments::failed)?;
        let mut once = Eager::new(vec![twin], self.stream, None, Timer::Wall)?;
        once.sample()?;
        let us = once.sample()?.completion_us;
        let mut calls = self.config.protocol.graph_calls.max(1);
        while calls > 1 && us * calls as f64 * 10.0 > self.config.protocol.limit_ms * 1e3 / 2.0 {
            calls /= 2;
        }
        Ok(calls)
    }

    /// A row before anything was tried.
    pub(super) fn blank(&self, planned: &Planned<'_>, choice: &Choice<'_>, reference: bool) -> Row {
        let info = &planned.info;
        let selectors = &self.config.selectors;
        let implementation = match &choice.row {
            Ok(row) => {
                let spec = row.spec();
                Implementation {
                    name: spec.name.clone(),
                    solution: format!("{}.{}", spec.device, spec.solution),
                    variant: spec.variant.clone(),
                    binding: spec.binding.clone(),
                    deterministic: spec.deterministic,
                    batch_invariant: spec.batch_invariant,
                    launch: Default::default(),
                }
            }
            Err(_) => Implementation {
                name: choice.asked.clone(),
                solution: String::new(),
                variant: None,
                binding: String::new(),
                deterministic: false,
                batch_invariant: false,
                launch: Default::default(),
            },
        };
        Row {
            case_id: info.id(selectors.seed),
            operation: info.operation.to_owned(),
            label: info.label.clone(),
            problem: info.parameters.clone(),
            grade: info.grade.unwrap_or(selectors.grade),
            mode: selectors.mode,
            implementation,
            reference,
            validation: Verdict::NotRun { reason: "not reached".to_owned() },
            status: RowStatus::Cancelled,
            reason: Some("the run ended first".to_owned()),
            work: Some(work(info.cost)),
            preparation_us: None,
            order: None,
            series: Vec::new(),
            against: Vec::new(),
            notes: Vec::new(),
        }
    }
}

fn work(cost: opweave_contract::Cost) -> Work {
    Work { bytes_read: cost.bytes_read, bytes_written: cost.bytes_written, flops: cost.flops }
}

/// The status that a verdict comes to before timing.
fn settle(row: &mut Row, verdict: Verdict, finding: Option<String>) {
    row.status = match verdict {
        Verdict::Passed => RowStatus::Ok,
        Verdict::NotApplicable { .. } => RowStatus::Skip,
        Verdict::TimedOut { .. } => RowStatus::TimedOut,
        _ => RowStatus::Fail,
    };
    row.reason = match row.status {
        RowStatus::Ok => None,
        _ => verdict.reason().or(finding),
    };
    row.validation = verdict;
}

fn cancel(row: &mut Row) {
    row.status = RowStatus::Cancelled;
    row.reason = Some("interrupted".to_owned());
    row.series.clear();
    row.against.clear();
}

fn skip(row: &mut Row, why: &str) {
    row.status = RowStatus::Skip;
    row.reason = Some(why.to_owned());
}
