// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A run for readers: one page of HTML that needs nothing else, and Markdown for a pull request.

mod bars;
mod plots;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use thiserror::Error;

use crate::baseline::{Device, Judgement, markdown as rows_markdown, render};
use crate::history::{Point, date};
use crate::record::{Row, Run};
use crate::workload::families;

/// A plot that cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("draw {plot}: {reason}")]
pub struct PageError {
    /// The plot.
    pub plot: String,
    /// What the drawing library says.
    pub reason: String,
}

/// The page. It carries its style and its script, and its policy forbids everything else.
///
/// # Errors
/// [`PageError`].
pub fn html(run: &Run, judgement: Option<&Judgement>, history: &[Point]) -> Result<String, PageError> {
    let title = format!("opweave suite on {}", run.device.name);
    let mut body = String::new();
    body.push_str(&head(run, judgement, &title));
    body.push_str(&table::table(run, judgement, history));
    body.push_str(&plots_of(run)?);
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n{body}<script>\n{}</script>\n</body>\n</html>\n",
        escape(&title),
        include_str!("style.css"),
        include_str!("page.js"),
    ))
}

/// The same for a pull request.
#[must_use]
pub fn markdown(run: &Run, judgement: Option<&Judgement>) -> String {
    let mut text = rows_markdown(&format!("Suite run {}", run.id), &Device::of(run), &run.rows);
    text.push_str(&format!("\n{}\n", facts(run).join(", ")));
    if let Some(judgement) = judgement {
        let word = if judgement.regressed { "Regressed" } else { "No regression" };
        let percent = judgement.threshold * 100.0;
        text.push_str(&format!(
            "\n## Against the baseline\n\n{word}, by more than {percent} % and the noise.\n\n```\n{}```\n",
            render(judgement)
        ));
    }
    text
}

/// What holds for the whole run.
fn facts(run: &Run) -> Vec<String> {
    let mut facts = vec![
        format!("run {}", run.id),
        format!("measured {} UTC", date(run.started_unix_s)),
        format!(
            "revision {}{}",
            run.revision.as_deref().unwrap_or("unknown"),
            match run.dirty {
                Some(true) => " with changes",
                Some(false) => "",
                None => ", perhaps with changes",
            }
        ),
        format!("{} rounds", run.protocol.rounds),
        format!("{} build", run.build),
    ];
    facts.extend(run.threads.map(|n| format!("{n} threads")));
    facts.extend(run.driver.as_ref().map(|driver| format!("driver {driver}")));
    facts.push(if run.leased { "device leased" } else { "no lease" }.to_owned());
    facts.extend(run.partial.as_ref().map(|why| format!("partial: {why}")));
    facts
}

fn head(run: &Run, judgement: Option<&Judgement>, title: &str) -> String {
    let mut text = format!(
        "<header>\n<h1>{}</h1>\n<button type=\"button\" id=\"theme\">Dark or light</button>\n</header>\n",
        escape(title)
    );
    text.push_str(&format!("<p class=\"facts\">{}</p>\n", escape(&facts(run).join(" \u{b7} "))));
    if let Some(judgement) = judgement {
        let (class, word) = if judgement.regressed { ("bad", "Regressed") } else { ("good", "No regression") };
        text.push_str(&format!("<p class=\"{class}\">{word} against the baseline.</p>\n"));
        for (what, rows) in
            [("New", &judgement.new), ("Missing", &judgement.missing), ("Unattempted", &judgement.unattempted)]
        {
            if !rows.is_empty() {
                text.push_str(&format!("<p>{what}: {}</p>\n", escape(&rows.join(", "))));
            }
        }
    }
    text
}

/// Rows by family, then by operator.
fn plots_of(run: &Run) -> Result<String, PageError> {
    let family: BTreeMap<&str, &str> = families().into_iter().collect();
    let mut by_family: BTreeMap<&str, BTreeMap<&str, Vec<&Row>>> = BTreeMap::new();
    for row in run.rows.iter().filter(|row| row.ours().is_some()) {
        let of = family.get(row.kernel.as_str()).copied().unwrap_or("other");
        by_family.entry(of).or_default().entry(&row.kernel).or_default().push(row);
    }
    let mut text = String::new();
    for (family, kernels) in by_family {
        text.push_str(&format!("<section aria-label=\"{0}\">\n<h2>{0}</h2>\n", escape(&family.replace('_', " "))));
        let all: Vec<&Row> = kernels.values().flatten().copied().collect();
        if let Some(svg) = plots::roofline(family, &all)? {
            text.push_str(&figure(&svg, "Operations per second by operations per byte. Lines are what the device reached in plain copies and multiply-adds in this run; dots are ours."));
        }
        text.push_str("<div class=\"charts\">\n");
        for (kernel, rows) in kernels {
            text.push_str(&figure(&bars::speed_up(kernel, &rows)?, &format!("{kernel}: {}", bars::caption(&rows))));
        }
        text.push_str("</div>\n</section>\n");
    }
    Ok(text)
}

fn figure(svg: &str, caption: &str) -> String {
    let caption = escape(caption);
    // The picture says nothing that the table does not say in words.
    let svg = svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{caption}\" "), 1);
    format!("<figure>\n{svg}<figcaption>{caption}</figcaption>\n</figure>\n")
}

/// Text as HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
