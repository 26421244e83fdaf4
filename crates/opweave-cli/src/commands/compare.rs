// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave compare`.

use std::path::Path;

use opweave_bench::compare::{Options, compare, render};
use opweave_bench::report::{BenchReport, read};
use opweave_suite::baseline::{self, Baseline, judge, read_baseline};
use opweave_suite::record::{RUN_KIND, kind_of, read_run};

use crate::args::CompareArgs;
use crate::exit::{Exit, Failure};
use crate::output::{Output, Tone};

/// Compares two reports; exit 3 if the second regressed.
pub(crate) fn run(args: &CompareArgs, out: &mut Output) -> Result<Exit, Failure> {
    if kind_of(&args.base).is_some() || kind_of(&args.new).is_some() {
        return suite(args, out);
    }
    // A file that is no report, or holds numbers that cannot be judged, is a wrong argument: no comparison took place.
    let load = |path: &Path| -> Result<BenchReport, Failure> { read(path).map_err(|e| usage(&e)) };
    let (a, b) = (load(&args.base)?, load(&args.new)?);
    let a2 = args.again.as_deref().map(load).transpose()?;
    let options = Options { threshold: args.threshold / 100.0, strict: args.strict, table_only: args.table_only };
    let comparison = compare(&a, &b, a2.as_ref(), &options)
        .map_err(|e| Failure::usage(format_args!("failed to {e}\n--table-only shows the numbers without verdicts")))?;
    if args.json {
        out.json(&comparison)?;
    } else {
        out.line(render(&comparison, out.width()).trim_end())?;
        let (tone, word) = match (comparison.regressed, args.table_only) {
            (_, true) => (Tone::Warn, "no verdict"),
            (true, _) => (Tone::Bad, "regressed"),
            (false, _) => (Tone::Good, "no regression"),
        };
        let word = out.tone(tone, word);
        out.line(word)?;
    }
    Ok(if comparison.regressed { Exit::Regressed } else { Exit::Good })
}

fn usage(error: &dyn std::error::Error) -> Failure {
    Failure::usage(format_args!("failed to {error}"))
}

/// The same of runs of the suite, of which the first may be a baseline.
fn suite(args: &CompareArgs, out: &mut Output) -> Result<Exit, Failure> {
    if args.again.is_some() || args.strict {
        return Err(Failure::usage("runs of the suite are compared two by two, and without --strict"));
    }
    let base = if kind_of(&args.base).as_deref() == Some(RUN_KIND) {
        Baseline::of(&read_run(&args.base).map_err(|e| usage(&e))?)
    } else {
        read_baseline(&args.base).map_err(|e| usage(&e))?
    };
    let run = read_run(&args.new).map_err(|e| usage(&e))?;
    let options = baseline::Options { threshold: args.threshold / 100.0, table_only: args.table_only };
    let judgement = judge(&base, &run, &options)
        .map_err(|e| Failure::usage(format_args!("failed to {e}\n--table-only shows the numbers without verdicts")))?;
    if args.json {
        out.json(&judgement)?;
    } else {
        out.text(&baseline::render(&judgement))?;
        let (tone, word) = match (judgement.regressed, args.table_only) {
            (_, true) => (Tone::Warn, "no verdict"),
            (true, _) => (Tone::Bad, "regressed"),
            (false, _) => (Tone::Good, "no regression"),
        };
        let word = out.tone(tone, word);
        out.line(word)?;
    }
    Ok(if judgement.regressed { Exit::Regressed } else { Exit::Good })
}
