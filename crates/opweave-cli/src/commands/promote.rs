// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave promote`.

use opweave_numerics::report::write_atomically;
use opweave_suite::baseline::{Device, markdown, parse_baseline, promote};
use opweave_suite::record::read_run;

use super::suite_files::{baseline_path, find_run};
use crate::args::PromoteArgs;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Makes a run what later ones are held to, or says everything that is against it.
pub(crate) fn run(args: &PromoteArgs, out: &mut Output) -> Result<Exit, Failure> {
    let usage = |e: &dyn std::fmt::Display| Failure::usage(format_args!("failed to {e}"));
    let run = read_run(&find_run(&args.runs, &args.run)?).map_err(|e| usage(&e))?;
    let path = args.output.clone().unwrap_or_else(|| baseline_path(&args.suites, &run.device.name, run.threads));
    let old = match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
        Err(e) => return Err(e.into()),
    };
    // What the run measured is wrong, not how the command was written: exit 1.
    let text = promote(&run, &path, old.as_deref(), args.merge)
        .map_err(|e| Failure::Broken(anyhow::anyhow!("failed to {e}")))?;
    let baseline = parse_baseline(&path, &text).map_err(|e| Failure::Broken(anyhow::anyhow!("failed to {e}")))?;
    let page = markdown(&format!("Baseline of {}", run.device.name), &Device::of(&run), &baseline.rows);
    for (path, bytes) in [(path.clone(), &text), (path.with_extension("md"), &page)] {
        write_atomically(&path, bytes.as_bytes())
            .map_err(|e| Failure::Broken(anyhow::anyhow!("failed to write {e}")))?;
    }
    out.line(format_args!("{} rows: {}", baseline.rows.len(), path.display()))?;
    Ok(Exit::Good)
}
