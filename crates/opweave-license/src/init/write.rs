// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The proposal's text.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::HUMAN;
use super::survey::Survey;
use crate::expr::Expr;

/// More folders than this are counted, not listed.
const LISTED: usize = 20;

pub(super) fn policy(survey: &Survey) -> String {
    let mut out = String::new();
    let (expression, sure) = expression(survey);
    let undated = Survey::most(&survey.undated);
    // The years of one holder may vary: then any year will do.
    let lines = survey.copyrights.keys().filter(|line| Some(super::survey::undated(line).as_str()) == undated);
    let dated: Vec<&str> = lines.map(String::as_str).collect();
    let pattern = if dated.len() > 1 { undated } else { dated.first().copied() };
    let copyright = dated.last().copied().unwrap_or("Copyright 2026 The authors");
    let first = survey.copyright_first.0 > survey.copyright_first.1;
    let lines = [format!("# SPDX-License-Identifier: {expression}"), format!("# {copyright}")];
    let _ = writeln!(out, "{}", if first { [&*lines[1], &*lines[0]] } else { [&*lines[0], &*lines[1]] }.join("\n"));
    let _ = writeln!(
        out,
        "#\n# Licence policy, read by `opweave license`. Proposed from what the tree says; lines with {HUMAN} need a decision.\n"
    );
    let _ = writeln!(out, "schema_version = 1\n");
    allow(&mut out, survey, &expression);
    if let Some(folder) = survey.folder.filter(|folder| *folder != "licenses") {
        let _ = writeln!(out, "licenses_dir = {}\n", quoted(folder));
    }
    let _ = writeln!(out, "[native]");
    match sure {
        true => {
            let count = survey.expressions.get(&expression).copied().unwrap_or_default();
            let _ = writeln!(out, "# In the header of {count} files.");
        }
        false => {
            let _ = writeln!(out, "# {HUMAN} no header says it; this is a guess from licence files and manifests.");
        }
    }
    let _ = writeln!(out, "expression = {}", quoted(&expression));
    match pattern {
        Some(_) => {
            let count = undated.and_then(|line| survey.undated.get(line)).copied().unwrap_or_default();
            let _ = writeln!(out, "# In {count} files.");
        }
        None => {
            let _ = writeln!(out, "# {HUMAN} who holds the copyright?");
        }
    }
    let _ = writeln!(out, "copyright = {}", quoted(pattern.unwrap_or(copyright)));
    if pattern.is_some_and(|pattern| pattern.contains("{year}")) {
        let _ = writeln!(out, "# {HUMAN} the year that new headers get.\nyear = {}", year(copyright));
    }
    if first {
        let _ = writeln!(out, "copyright_first = true");
    }
    if survey.silent > 0 {
        let _ = writeln!(
            out,
            "# {} files have no header; `opweave license --fix` adds it once the ports are declared.",
            survey.silent
        );
    }
    out.push('\n');
    texts(&mut out, survey);
    mute(&mut out, survey, &expression, copyright);
    ports(&mut out, survey);
    out
}

/// The last year of a copyright line.
fn year(line: &str) -> &str {
    let end = line.rfind(|c: char| c.is_ascii_digit()).map_or(0, |at| at + 1);
    line.get(end.saturating_sub(4)..end).filter(|year| year.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or("2026")
}

/// The native expression, and whether a header says so.
fn expression(survey: &Survey) -> (String, bool) {
    if let Some(most) = Survey::most(&survey.expressions) {
        return (most.to_owned(), true);
    }
    if let Some(stated) = survey.manifests.iter().next() {
        return (stated.clone(), false);
    }
    let known = survey.texts.iter().find_map(|(_, id, _)| *id);
    (known.unwrap_or("Apache-2.0").to_owned(), false)
}

fn allow(out: &mut String, survey: &Survey, expression: &str) {
    let mut ids: BTreeSet<String> = BTreeSet::new();
    for text in survey.expressions.keys().map(String::as_str).chain([expression]) {
        // A pair with an exception is allowed as a pair.
        ids.extend(Expr::parse(text).map(|e| terms(e.normal())).unwrap_or_default());
    }
    let list: Vec<String> = ids.iter().map(|id| quoted(id)).collect();
    let _ = writeln!(out, "# {HUMAN} every licence that may appear; what is not listed is denied.");
    let _ = writeln!(out, "allow = [{}]\n", list.join(", "));
}

/// The terms of a normal expression, without `+`, which an allow-list does not have.
fn terms(normal: &str) -> BTreeSet<String> {
    let flat = normal.replace(['(', ')'], "").replace(" AND ", "\u{1}").replace(" OR ", "\u{1}");
    flat.split('\u{1}').map(|term| term.trim_end_matches('+').to_owned()).collect()
}

fn texts(out: &mut String, survey: &Survey) {
    let folder = survey.folder.unwrap_or("licenses");
    for (path, id, _) in survey.texts.iter().filter(|(path, ..)| !path.contains('/')) {
        match id {
            Some(id) => {
                let _ = writeln!(out, "# {path} is the text of {id}; a copy belongs to {folder}/{id}.txt.");
            }
            None => {
                let _ = writeln!(out, "# {HUMAN} {path} is no licence text that is known.");
            }
        }
    }
    let inside: Vec<_> = survey.texts.iter().filter(|(path, ..)| path.starts_with(&format!("{folder}/"))).collect();
    if !inside.is_empty() {
        let _ = writeln!(out, "[texts]");
        for (path, _, digest) in inside {
            let _ = writeln!(out, "{} = {}", quoted(path), quoted(digest));
        }
    }
    out.push('\n');
}

fn mute(out: &mut String, survey: &Survey, expression: &str, copyright: &str) {
    for (glob, (count, example)) in &survey.mute {
        let _ = writeln!(out, "# {HUMAN} {count} files cannot hold a comment, such as {example}. Are they yours?");
        let _ = writeln!(out, "[[annotate]]\npaths = [{}]", quoted(glob));
        let _ = writeln!(out, "expression = {}\ncopyright = {}\n", quoted(expression), quoted(copyright));
    }
}

fn ports(out: &mut String, survey: &Survey) {
    for (folder, (count, example, words)) in survey.foreign.iter().take(LISTED) {
        let glob = if folder.is_empty() { example.clone() } else { format!("{folder}/**") };
        let words: String = words.chars().take(70).filter(|c| !c.is_control()).collect();
        let _ = writeln!(out, "# {HUMAN} {count} files of somebody else's? {example} says: {words}");
        for line in [
            "[[bucket]]".to_owned(),
            "name = \"\"".to_owned(),
            format!("paths = [{}]", quoted(&glob)),
            "project = \"\"          # upstream's name".to_owned(),
            "url = \"https://\"      # its canonical URL, without .git".to_owned(),
            "expression = \"\"       # its terms AND yours".to_owned(),
            "copyright = \"\"        # its copyright line".to_owned(),
        ] {
            let _ = writeln!(out, "# {line}");
        }
        out.push('\n');
    }
    let more = survey.foreign.len().saturating_sub(LISTED);
    if more > 0 {
        let _ = writeln!(out, "# {HUMAN} {more} more folders hold heads that differ; run the lint to see each.");
    }
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
