// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The report as Markdown, for a pull request.

use std::fmt::Write as _;

use crate::measurement::Cache;

use super::numbers::{bytes, digits, or_dash};
use super::table::{HEADER, lines};
use super::{BenchReport, RunStatus};

/// The whole report as text.
#[must_use]
pub fn markdown(report: &BenchReport) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_all(report, &mut out);
    out
}

fn write_all(report: &BenchReport, out: &mut String) -> std::fmt::Result {
    let (device, env, p) = (&report.environment.device, &report.environment, &report.protocol);
    writeln!(out, "# Benchmark on {}\n", device.name)?;
    if report.status != RunStatus::Complete {
        writeln!(
            out,
            "**This run is not complete: {}.**\n",
            if report.status == RunStatus::Interrupted {
                "it was interrupted"
            } else {
                "it is still running or was killed"
            }
        )?;
    }
    writeln!(out, "- command: `{}`", report.command.join(" "))?;
    let threads = device.threads.map_or_else(String::new, |t| format!(", {t} threads"));
    writeln!(out, "- device: {} ({}{threads}), clocks {}", device.id, device.key, device.clocks)?;
    writeln!(
        out,
        "- caches: L1 {}, L2 {}, last level {} ({})",
        bytes(report.caches.l1_bytes),
        bytes(report.caches.l2_bytes),
        bytes(report.caches.last_level_bytes),
        report.caches.source
    )?;
    let revision = match (&env.revision, env.dirty) {
        (Some(revision), Some(true)) => format!(", revision {revision} with changes"),
        (Some(revision), _) => format!(", revision {revision}"),
        (None, _) => String::new(),
    };
    writeln!(out, "- opweave {} ({}){revision}, {}", env.opweave, env.build, env.host.system)?;
    if let Some(distributed) = &report.distributed {
        let whose = distributed.rank.map_or_else(
            || "all together, each sample is the longest span of any".to_owned(),
            |rank| format!("the spans of rank {rank}"),
        );
        writeln!(out, "- ranks: {} ({whose}); a barrier before each sample", distributed.size)?;
        for rank in &distributed.ranks {
            let host = rank.host.as_deref().unwrap_or("unknown host");
            let file = rank.report.as_deref().map_or_else(String::new, |file| format!(", `{file}`"));
            writeln!(out, "  - rank {}: {} on {host}, process {}{file}", rank.rank, rank.device, rank.process)?;
        }
    }
    let load = |v| or_dash(v, |l| format!("{l:.2}"));
    writeln!(out, "- host load before {}, after {}", load(env.host.load_before), load(env.host.load_after))?;
    match p.iterations {
        Some(n) => writeln!(out, "- protocol: {n} samples, {} rounds, cooldown {} s", p.rounds, p.cooldown_s)?,
        None => writeln!(
            out,
            "- protocol: warm-up {} ms, repeat {} ms, {} rounds, cooldown {} s, limit {} ms",
            p.warmup_ms, p.repeat_ms, p.rounds, p.cooldown_s, p.limit_ms
        )?,
    }
    writeln!(out, "- inputs: seed {}, generator {}\n", report.seed, report.generator)?;
    if let Some(ceilings) = &report.ceilings {
        writeln!(out, "| ceiling | read | written | GB/s hot | GB/s cold |")?;
        writeln!(out, "| --- | ---: | ---: | ---: | ---: |")?;
        for point in &ceilings.points {
            writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                point.pattern,
                bytes(point.bytes_read),
                bytes(point.bytes_written),
                or_dash(point.gb_per_s(Cache::Hot), digits),
                or_dash(point.gb_per_s(Cache::Cold), digits)
            )?;
        }
        if let Some(rate) = ceilings.multiply_add_gflop_per_s {
            writeln!(out, "\nMultiply-add: {} GFLOP/s.", digits(rate))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "| {} |", HEADER.join(" | "))?;
    writeln!(out, "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |")?;
    for line in report.rows.iter().flat_map(lines) {
        writeln!(out, "| {} |", line.map(|cell| escape(&cell)).join(" | "))?;
    }
    Ok(())
}

/// A bar or a line break inside a cell would end it.
fn escape(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}
