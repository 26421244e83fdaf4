// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The table: every row with its interval, its history and, if it has no time, the reason.

use std::collections::BTreeSet;

use opweave_bench::report::us;

use super::escape;
use crate::baseline::Judgement;
use crate::history::{Point, date};
use crate::record::{Row, Run, Status};

/// The controls and the table.
pub(super) fn table(run: &Run, judgement: Option<&Judgement>, history: &[Point]) -> String {
    let mut text = controls(run);
    text.push_str("<div class=\"scroll\" role=\"region\" aria-label=\"Rows\" tabindex=\"0\">\n<table id=\"rows\">\n");
    text.push_str(
        "<caption>Times are microseconds; a ratio is the fastest reference over ours.</caption>\n<thead>\n<tr>",
    );
    let columns = [
        ("kernel", "text"),
        ("case", "text"),
        ("status", "text"),
        ("us", "number"),
        ("interval", "none"),
        ("of copy", "number"),
        ("ratio", "number"),
        ("against", "number"),
        ("history", "none"),
        ("implementation", "text"),
    ];
    for (name, kind) in columns {
        let head = match kind {
            "none" => name.to_owned(),
            kind => format!("<button type=\"button\" data-sort=\"{kind}\">{name}</button>"),
        };
        text.push_str(&format!("<th scope=\"col\" aria-sort=\"none\">{head}</th>"));
    }
    text.push_str("</tr>\n</thead>\n<tbody>\n");
    for row in &run.rows {
        let moved =
            judgement.and_then(|j| j.entries.iter().find(|e| (&e.kernel, &e.label) == (&row.kernel, &row.label)));
        let points: Vec<&Point> =
            history.iter().filter(|p| (&p.kernel, &p.label) == (&row.kernel, &row.label)).collect();
        text.push_str(&line(row, moved, &points));
    }
    text.push_str("</tbody>\n</table>\n</div>\n<p id=\"none\" hidden>No row matches.</p>\n");
    text
}

fn controls(run: &Run) -> String {
    let mut text = "<form id=\"controls\" role=\"search\">\n<label>Filter <input id=\"filter\" type=\"search\" \
                    placeholder=\"kernel, case, implementation\" autocomplete=\"off\"></label>\n\
                    <label>Status <select id=\"status\"><option value=\"\">all</option>"
        .to_owned();
    for status in run.rows.iter().map(|row| row.status).collect::<BTreeSet<Status>>() {
        text.push_str(&format!("<option>{status}</option>"));
    }
    text.push_str("</select></label>\n<output id=\"count\" aria-live=\"polite\"></output>\n</form>\n");
    text
}

fn line(row: &Row, moved: Option<&crate::baseline::Entry>, history: &[&Point]) -> String {
    let ours = row.ours();
    let number = |value: Option<f64>, shown: String| match value.filter(|v| v.is_finite()) {
        Some(value) => format!("<td class=\"number\" data-value=\"{value}\">{shown}</td>"),
        None => "<td class=\"number\">-</td>".to_owned(),
    };
    let share = ours.and_then(|o| Some(o.gb_per_s? / o.ceiling_gb_per_s.filter(|c| *c > 0.0)?));
    let implementation = row.implementation.as_deref().unwrap_or("-");
    let mut text = format!("<tr data-status=\"{}\">", row.status);
    text.push_str(&format!("<th scope=\"row\">{}</th><td>{}</td>", escape(&row.kernel), escape(&row.label)));
    text.push_str(&format!("<td class=\"{}\">{}{}</td>", tone(row.status), row.status, why(row)));
    text.push_str(&number(ours.map(|o| o.us), ours.map_or_else(String::new, |o| us(o.us))));
    text.push_str(&format!("<td>{}</td>", interval(row)));
    text.push_str(&number(share, share.map_or_else(String::new, |s| format!("{:.0} %", s * 100.0))));
    text.push_str(&number(row.ratio, row.ratio.map_or_else(String::new, |r| format!("{r:.2}"))));
    let change = moved.and_then(|m| m.change);
    let words = moved.map_or_else(String::new, |m| {
        let change = m.change.map_or_else(String::new, |c| format!("{:+.1} % ", c * 100.0));
        let note = m.note.as_ref().map_or_else(String::new, |n| format!("<br><small>{}</small>", escape(n)));
        format!("{change}{}{note}", m.verdict)
    });
    text.push_str(&if words.is_empty() || change.is_some() {
        number(change, words)
    } else {
        format!("<td>{words}</td>")
    });
    text.push_str(&format!("<td>{}</td><td>{}</td></tr>\n", sparkline(history), escape(implementation)));
    text
}

fn tone(status: Status) -> &'static str {
    match status {
        Status::Ok => "good",
        Status::Skip | Status::Cancelled => "warn",
        _ => "bad",
    }
}

/// The reason and the marks, behind a fold where there are only marks.
fn why(row: &Row) -> String {
    let mut text = String::new();
    if let Some(reason) = &row.reason {
        text.push_str(&format!("<br><small>{}</small>", escape(reason)));
    }
    if !row.marks.is_empty() {
        let marks = escape(&row.marks.join("; "));
        text.push_str(&format!(
            "<details><summary>{} marks</summary><small>{marks}</small></details>",
            row.marks.len()
        ));
    }
    text
}

/// The range of each implementation of a row, on one scale, ours first.
fn interval(row: &Row) -> String {
    let ranges: Vec<(bool, f64, f64, f64)> = row
        .impls
        .iter()
        .map(|one| {
            let (low, high) = one.interval_us.map_or((one.us, one.us), |i| (i.low_us, i.high_us));
            (one.ours, low, one.us, high)
        })
        .collect();
    let low = ranges.iter().map(|r| r.1).fold(f64::INFINITY, f64::min);
    let high = ranges.iter().map(|r| r.3).fold(0.0, f64::max);
    if ranges.is_empty() {
        return "-".to_owned();
    }
    let x = |v: f64| if high > low { 4.0 + 112.0 * (v - low) / (high - low) } else { 60.0 };
    let words: Vec<String> = row
        .impls
        .iter()
        .zip(&ranges)
        .map(|(one, (_, low, value, high))| format!("{} {} us, {} to {}", one.name, us(*value), us(*low), us(*high)))
        .collect();
    let words = escape(&words.join("; "));
    let height = 8 * ranges.len() + 6;
    let mut svg = format!(
        "<svg class=\"interval\" role=\"img\" aria-label=\"{words}\" viewBox=\"0 0 120 {height}\" width=\"120\" height=\"{height}\"><title>{words}</title>"
    );
    for (at, (ours, low, value, high)) in ranges.iter().enumerate() {
        let (class, y) = (if *ours { "ours" } else { "theirs" }, 8 * at + 7);
        svg.push_str(&format!(
            "<line class=\"{class}\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y}\" y2=\"{y}\"/>",
            x(*low),
            x(*high)
        ));
        svg.push_str(&format!("<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{y}\" r=\"3\"/>", x(*value)));
    }
    svg + "</svg>"
}

/// Times from the oldest to the newest, and the same in words.
fn sparkline(history: &[&Point]) -> String {
    let times: Vec<(&Point, f64)> = history.iter().filter_map(|p| Some((*p, p.us?))).collect();
    if times.len() < 2 {
        return "-".to_owned();
    }
    let low = times.iter().map(|t| t.1).fold(f64::INFINITY, f64::min);
    let high = times.iter().map(|t| t.1).fold(0.0, f64::max);
    let y = |v: f64| if high > low { 20.0 - 16.0 * (v - low) / (high - low) } else { 12.0 };
    let step = 92.0 / (times.len() - 1) as f64;
    let points: Vec<String> =
        times.iter().enumerate().map(|(at, (_, v))| format!("{:.1},{:.1}", 4.0 + step * at as f64, y(*v))).collect();
    let words: Vec<String> =
        times.iter().map(|(p, v)| format!("{} {}: {} us", date(p.unix_s), p.source, us(*v))).collect();
    let list: String = words.iter().map(|w| format!("<li>{}</li>", escape(w))).collect();
    format!(
        "<svg class=\"spark\" role=\"img\" aria-label=\"{} times, the last {} us\" viewBox=\"0 0 100 24\" width=\"100\" height=\"24\">\
         <polyline points=\"{}\"/></svg><details><summary>{} times</summary><ol>{list}</ol></details>",
        times.len(),
        us(times[times.len() - 1].1),
        points.join(" "),
        times.len(),
    )
}
