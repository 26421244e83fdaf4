// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The readable twin of a baseline, and the table of a run for a pull request.

use opweave_bench::report::{share, us};

use super::Device;
use crate::record::{Row, Status};

/// A table of rows, after a heading.
#[must_use]
pub fn markdown(heading: &str, device: &Device, rows: &[Row]) -> String {
    let threads = device.threads.map_or_else(String::new, |n| format!(", {n} threads"));
    let driver = device.driver.as_ref().map_or_else(String::new, |d| format!(", driver {d}"));
    let mut out = format!(
        "# {heading}\n\n{}{threads}{driver}. Times are microseconds; a ratio is the fastest reference over ours.\n\n",
        device.name
    );
    out.push_str("| kernel | case | implementation | us | interval | of the device's copy | ratio | status |\n");
    out.push_str("| --- | --- | --- | ---: | --- | ---: | ---: | --- |\n");
    for row in rows {
        let ours = row.ours();
        let dash = || "-".to_owned();
        let interval =
            ours.and_then(|o| o.interval_us).map_or_else(dash, |i| format!("{} to {}", us(i.low_us), us(i.high_us)));
        let of_copy =
            ours.and_then(|o| Some(share(o.gb_per_s? / o.ceiling_gb_per_s.filter(|c| *c > 0.0)?))).unwrap_or_else(dash);
        let status = if row.status == Status::Ok {
            row.status.to_string()
        } else {
            format!("{}: {}", row.status, cell(row.reason.as_deref().unwrap_or("-")))
        };
        out.push_str(&format!(
            "| `{}` | `{}` | {} | {} | {interval} | {of_copy} | {} | {status} |\n",
            row.kernel,
            row.label,
            row.implementation.as_ref().map_or_else(dash, |name| format!("`{name}`")),
            ours.map_or_else(dash, |o| us(o.us)),
            row.ratio.map_or_else(dash, |r| format!("{r:.2}")),
        ));
    }
    out
}

/// Text that breaks no table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
