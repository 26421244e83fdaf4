// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How a run is drawn on standard error: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use opweave_bench::measurement::Metric;
use opweave_bench::report::{Row, RowStatus, us};
use opweave_bench::run::BenchProgress;
use opweave_numerics::report::CaseReport;
use opweave_numerics::{Counts, Progress};

/// Verdicts with their numbers: `12 passed, 1 not_applicable`.
pub(crate) fn words(counts: &Counts) -> String {
    let words: Vec<String> = counts.non_zero().into_iter().map(|(name, n)| format!("{n} {name}")).collect();
    if words.is_empty() { "nothing was judged".to_owned() } else { words.join(", ") }
}

/// A bar, or lines.
pub(crate) struct Drawn {
    bar: Option<ProgressBar>,
    terminal: bool,
    at: String,
    counts: Counts,
    operation: Option<(String, Counts)>,
}

impl Drawn {
    /// Draws on standard error.
    pub(crate) fn new() -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self { bar: None, terminal, at: String::new(), counts: Counts::default(), operation: None }
    }

    fn start(&mut self, cases: usize) {
        if self.terminal {
            let bar = ProgressBar::new(cases as u64);
            // The template is a constant; were it wrong, the default style would do.
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {elapsed} {wide_msg}") {
                bar.set_style(style.progress_chars("━╸ "));
            }
            self.bar = Some(bar);
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => eprintln!("{text}"),
        }
    }

    fn message(&self, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(text);
        }
    }

    fn step(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Without a bar, one line for each operation says how far the run is.
    fn close_operation(&mut self) {
        if let Some((operation, counts)) = self.operation.take()
            && !self.terminal
        {
            self.line(&format!("{operation}: {}", words(&counts)));
        }
    }
}

impl Progress for Drawn {
    fn started(&mut self, cases: usize) {
        self.start(cases);
    }

    fn operation(&mut self, operation: &str, _cases: usize) {
        self.close_operation();
        self.operation = Some((operation.to_owned(), Counts::default()));
    }

    fn case(&mut self, operation: &str, label: &str, implementation: &str) {
        self.message(format!("{operation} {label} {implementation}"));
    }

    fn judged(&mut self, _operation: &str, case: &CaseReport) {
        self.counts.add(&case.verdict);
        if let Some((_, counts)) = &mut self.operation {
            counts.add(&case.verdict);
        }
        if !case.verdict.is_acceptable() {
            let why = case.verdict.reason().or_else(|| case.findings.first().map(|f| f.text.clone()));
            self.line(&format!("{} {}: {}", case.verdict.name(), case.id, why.unwrap_or_default()));
        }
        self.step();
    }

    fn note(&mut self, text: &str) {
        self.line(&format!("note: {text}"));
    }

    fn finished(&mut self) {
        self.close_operation();
        self.end();
    }
}

impl BenchProgress for Drawn {
    fn started(&mut self, cases: usize) {
        self.start(cases);
    }

    fn case(&mut self, operation: &str, label: &str, implementation: &str) {
        self.at = format!("{operation} {label} {implementation}");
    }

    fn part(&mut self, part: &str) {
        self.message(format!("{} {part}", self.at));
    }

    fn done(&mut self, rows: &[Row]) {
        for row in rows {
            let head = format!("{} {} {}", row.operation, row.label, row.implementation.name);
            if matches!(row.status, RowStatus::Ok | RowStatus::BaselineError) {
                let times = row.series.iter().filter(|s| s.measurement.metric == Metric::Completion);
                let times: Vec<String> =
                    times.map(|s| format!("{} {} us", s.measurement.cache, us(s.measurement.impl_us))).collect();
                // The table at the end has it all; on a terminal the bar is enough until then.
                if !self.terminal {
                    self.line(&format!("{head}: {}", times.join(", ")));
                }
            } else {
                let why = row.reason.clone().unwrap_or_else(|| row.validation.name().to_owned());
                self.line(&format!("{head}: {why}"));
            }
        }
        self.step();
    }

    fn finished(&mut self) {
        self.end();
    }
}

/// A sweep of the suite: a bar with what is left, or a line for each row.
pub(crate) struct SuiteDrawn {
    drawn: Drawn,
    rows: usize,
    there: usize,
}

impl SuiteDrawn {
    /// Draws on standard error.
    pub(crate) fn new() -> Self {
        Self { drawn: Drawn::new(), rows: 0, there: 0 }
    }
}

impl opweave_suite::runner::Progress for SuiteDrawn {
    fn started(&mut self, rows: usize, there: usize) {
        (self.rows, self.there) = (rows, there);
        self.drawn.start(rows);
        if let Some(bar) = &self.drawn.bar {
            bar.set_position(there as u64);
        }
    }

    fn waiting(&mut self, what: &str) {
        self.drawn.line(&format!("waiting: {what}"));
    }

    fn attempt(&mut self, planned: &opweave_suite::record::Planned, number: usize) {
        let again = if number > 1 { format!(", attempt {number}") } else { String::new() };
        self.drawn.message(format!("{planned}{again}"));
    }

    fn done(&mut self, row: &opweave_suite::record::Row, left: Duration) {
        self.there += 1;
        let time = row.ours().map_or_else(String::new, |ours| format!(" {} us", us(ours.us)));
        let ratio = row.ratio.map_or_else(String::new, |ratio| format!(", {ratio:.2} of the reference"));
        let why = row.reason.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let place = format!("{}/{}, {} left", self.there, self.rows, clock(left));
        self.drawn.line(&format!("{} {}{time}{ratio}{why} ({place})", row.planned(), row.status));
        self.drawn.step();
    }

    fn again(&mut self, row: &opweave_suite::record::Row) {
        let why = row.reason.as_deref().unwrap_or_default();
        self.drawn.line(&format!("{} {}: {why}; it comes again", row.planned(), row.status));
    }

    fn finished(&mut self) {
        self.drawn.end();
    }
}

/// A duration in minutes and seconds.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 { format!("{seconds} s") } else { format!("{}:{:02} min", seconds / 60, seconds % 60) }
}
