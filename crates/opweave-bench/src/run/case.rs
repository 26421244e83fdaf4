// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Times one case: ours, and its baseline if there is one, in turns.

use std::cell::RefCell;

use opweave_device::{Activity, Stream};
use opweave_numerics::Verdict;
use opweave_numerics::harness::{CaseError, PreparedCase, PreparedSource};
use opweave_numerics::report::Implementation;

use super::arrange::Arrangement;
use super::external::{self, Adapter, External};
use super::plan::{Choice, Planned};
use super::ready::{Ready, ready};
use super::series::{Timed, against, series};
use super::{BenchConfig, BenchGround, BenchProgress};
use crate::ceilings::{Ceilings, Probe};
use crate::measurement::{Cache, Timer};
use crate::protocol::{in_words, schedule};
use crate::report::{Row, RowStatus, Work};
use crate::sampler::{HostClock, SampleError, Subject, measure};

/// What the cases of a run share.
pub(super) struct Bench<'a> {
    pub(super) config: &'a BenchConfig,
    pub(super) ground: &'a BenchGround<'a>,
    pub(super) stream: &'a dyn Stream,
    pub(super) timer: Timer,
    /// The device's records of its kernels, where the timer reads them.
    pub(super) activity: Option<&'a dyn Activity>,
    pub(super) clock: HostClock,
    /// References outside this process, in the order in which they were named.
    pub(super) references: Vec<RefCell<Adapter>>,
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
        for (adapter, program) in self.references.iter().zip(&self.config.references) {
            let mut row = self.row(planned, external::implementation(program), true);
            external::introduce(adapter, planned, &*source, &mut row);
            rows.push(row);
        }
        drop(source);
        let timed: Vec<usize> = (0..made.len()).filter(|&i| made[i].passed()).collect();
        let prepared: Vec<&dyn PreparedCase> = timed.iter().filter_map(|&i| made[i].prepared.as_deref()).collect();
        for &cache in &self.config.caches {
            progress.part(cache.name());
            let outcome = loop {
                let outside: Vec<usize> =
                    (made.len()..rows.len()).filter(|&i| rows[i].status == RowStatus::Ok).collect();
                let references: Vec<&RefCell<Adapter>> =
                    outside.iter().map(|&i| &self.references[i - made.len()]).collect();
                let outcome = self.series(&prepared, &references, cache, ceilings, probe.as_deref_mut());
                // A reference that breaks is left out, and the others are timed again without it.
                let broken =
                    references.iter().zip(&outside).find_map(|(r, &i)| Some((i, r.borrow_mut().trouble.take()?)));
                match broken {
                    Some((row, reason)) => fail(&mut rows[row], &reason),
                    None => break outcome.map(|all| timed.iter().copied().chain(outside).zip(all).collect::<Vec<_>>()),
                }
            };
            match outcome {
                Ok(all) => {
                    for (index, series) in all {
                        rows[index].series.extend(series);
                    }
                }
                Err(SampleError::Interrupted) => {
                    rows.iter_mut().for_each(cancel);
                    return (rows, true);
                }
                Err(error) => {
                    for &index in &timed {
                        fail(&mut rows[index], &error.to_string());
                    }
                    return (rows, false);
                }
            }
        }
        self.conclude(&mut rows);
        (rows, false)
    }

    /// Ratios, and what a failed baseline or reference means for ours.
    fn conclude(&self, rows: &mut [Row]) {
        let timed = rows.iter().filter(|row| row.status == RowStatus::Ok).count();
        let protocol = &self.config.protocol;
        let order = in_words(&schedule(timed, protocol.rounds, protocol.turns));
        for row in rows.iter_mut().filter(|row| row.status == RowStatus::Ok) {
            row.order = Some(order.clone());
        }
        let Some((ours, others)) = rows.split_first_mut() else { return };
        for other in others {
            match other.status {
                RowStatus::Ok => ours.against.extend(against(ours, other, self.config.protocol.turns)),
                // What a library does not have is no failure of the row.
                RowStatus::Skip if other.implementation.solution == external::SOLUTION => {}
                _ => {
                    ours.status = RowStatus::BaselineError;
                    let why = format!("baseline {}: {}", other.implementation.name, crate::report::why_not(other));
                    ours.reason =
                        Some(ours.reason.take().map_or_else(|| why.clone(), |first| format!("{first}; {why}")));
                }
            }
        }
    }

    /// Every series of one cache state, for each implementation in order: those of this process, then the references.
    fn series(
        &self,
        prepared: &[&dyn PreparedCase],
        references: &[&RefCell<Adapter>],
        cache: Cache,
        ceilings: &mut Ceilings,
        probe: Option<&mut (dyn Probe + '_)>,
    ) -> Result<Vec<Vec<crate::report::Series>>, SampleError> {
        let interrupt = self.ground.numerics.interrupt;
        let work = work(prepared[0].cost());
        // First, as it takes most memory in one block: what is freed again holds all sets of most cases.
        let ceiling = match probe {
            Some(probe) => ceilings.ensure(probe, work, cache, &self.clock, interrupt)?,
            None => None,
        };
        let Arrangement { arranged, method } = self.arrange(prepared[0], cache)?;
        let mut made: Vec<Box<dyn Subject + '_>> = self.subjects(prepared, &arranged)?;
        for &adapter in references {
            made.push(Box::new(External::new(adapter, arranged)?));
        }
        let mut subjects: Vec<&mut dyn Subject> = made.iter_mut().map(|subject| &mut **subject as _).collect();
        let taken = measure(&mut subjects, &self.config.protocol, &self.clock, interrupt)?;
        drop(made);
        let one = |taken| {
            let cache_method = method.clone();
            series(&Timed { taken, timer: self.timer, cache, work, calls: arranged.calls, cache_method, ceiling })
        };
        taken.iter().map(one).collect()
    }

    /// The row of a choice before anything was tried.
    pub(super) fn blank(&self, planned: &Planned<'_>, choice: &Choice<'_>, reference: bool) -> Row {
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
        self.row(planned, implementation, reference)
    }

    /// A row before anything was tried.
    fn row(&self, planned: &Planned<'_>, implementation: Implementation, reference: bool) -> Row {
        let (info, selectors) = (&planned.info, &self.config.selectors);
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

pub(super) fn work(cost: opweave_contract::Cost) -> Work {
    Work { bytes_read: cost.bytes_read, bytes_written: cost.bytes_written, flops: cost.flops }
}

/// The status that a verdict comes to before timing.
pub(super) fn settle(row: &mut Row, verdict: Verdict, finding: Option<String>) {
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

pub(super) fn fail(row: &mut Row, why: &str) {
    row.status = RowStatus::Fail;
    row.reason = Some(why.to_owned());
    row.series.clear();
}

pub(super) fn cancel(row: &mut Row) {
    row.status = RowStatus::Cancelled;
    row.reason = Some("interrupted".to_owned());
    row.series.clear();
    row.against.clear();
}

fn skip(row: &mut Row, why: &str) {
    row.status = RowStatus::Skip;
    row.reason = Some(why.to_owned());
}
