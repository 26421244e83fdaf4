// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What one file says about itself, read once and looked at by every rule.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::citation::{Citation, joined};
use crate::expr::{Expr, ExprError};
use crate::finding::Place;
use crate::head::{self, Head, Line};
use crate::policy::{Annotation, Class, Override, Policy};
use crate::style::{self, Style};
use crate::text::{Text, line_end};
use crate::tree::{Entry, Kind, Tree, join};

/// What a tag looks like.
pub const TAG: &str = "SPDX-License-Identifier:";

/// Bytes that are read first; longer heads are read on.
const FIRST: usize = 4096;

/// One licence tag.
#[derive(Clone, Debug)]
pub struct Tag {
    /// The expression as written.
    pub value: String,
    /// Where it stands.
    pub place: Place,
}

/// What a path turned out to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Text whose comments are known.
    Text(&'static Style),
    /// Text whose comments are not known.
    Unknown,
    /// No text.
    Binary,
    /// Nothing at all: no byte to license.
    Empty,
    /// It cannot be read, and why.
    Unreadable(String),
    /// A link that leaves the repository, and to where.
    Outside(String),
    /// A link to something else in the repository, which is looked at in its own place.
    Link,
    /// A licence text, notice or sidecar, which speaks of other files.
    About,
}

/// One file as the rules see it.
#[derive(Debug)]
pub struct View<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// The tree, for rules that read more than the head.
    pub tree: &'a dyn Tree,
    /// Path.
    pub path: &'a str,
    /// What it holds.
    pub state: State,
    /// Native or port.
    pub class: Class,
    /// The file or sidecar that carries the header.
    pub carrier: String,
    /// The comments of the carrier's head.
    pub head: Head,
    /// Licence tags in it, and in a sidecar beside it.
    pub tags: Vec<Tag>,
    /// Its citations.
    pub citations: Vec<Citation>,
    /// The annotation that stands in for a header, if the file carries none.
    pub annotation: Option<&'a Annotation>,
    /// The one expression that holds for the file, if there is exactly one.
    pub expression: Option<Result<Arc<Expr>, ExprError>>,
    /// The text that the head was read from, to show lines of it.
    text: Vec<u8>,
}

impl std::fmt::Debug for dyn Tree + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tree")
    }
}

/// What a worker keeps from file to file.
#[derive(Debug)]
pub struct Scratch<'a> {
    /// The sidecars of the tree.
    pub sidecars: &'a HashSet<&'a str>,
    buffer: Vec<u8>,
    expressions: HashMap<String, Result<Arc<Expr>, ExprError>>,
}

impl<'a> Scratch<'a> {
    /// An empty one.
    #[must_use]
    pub fn new(sidecars: &'a HashSet<&'a str>) -> Self {
        Self { sidecars, buffer: Vec::new(), expressions: HashMap::new() }
    }

    /// Reads an expression; a tree holds few different ones.
    fn parse(&mut self, text: &str) -> Result<Arc<Expr>, ExprError> {
        if let Some(known) = self.expressions.get(text) {
            return known.clone();
        }
        let parsed = Expr::parse(text).map(Arc::new);
        self.expressions.insert(text.to_owned(), parsed.clone());
        parsed
    }
}

/// The paths of sidecars among entries.
#[must_use]
pub fn sidecars(entries: &[Entry]) -> HashSet<&str> {
    entries.iter().map(|entry| entry.path.as_str()).filter(|path| path.ends_with(".license")).collect()
}

impl<'a> View<'a> {
    /// Looks at one entry.
    #[must_use]
    pub fn new(policy: &'a Policy, tree: &'a dyn Tree, entry: &'a Entry, scratch: &mut Scratch<'_>) -> Self {
        let path = entry.path.as_str();
        let mut view = Self {
            policy,
            tree,
            path,
            state: State::About,
            class: policy.class(path),
            carrier: path.to_owned(),
            head: Head::default(),
            tags: Vec::new(),
            citations: Vec::new(),
            annotation: None,
            expression: None,
            text: Vec::new(),
        };
        view.look(entry, scratch);
        view
    }

    fn look(&mut self, entry: &Entry, scratch: &mut Scratch<'_>) {
        if let Kind::Link(target) = &entry.kind {
            self.state = match join(self.path, target) {
                None => State::Outside(target.clone()),
                Some(inside) if self.tree.exists(&inside) => State::Link,
                Some(_) => State::Unreadable(format!("the link's target {target} does not exist")),
            };
            return;
        }
        let sidecar_of = self.path.strip_suffix(".license").filter(|of| self.tree.exists(of));
        if self.policy.is_license_file(self.path) || sidecar_of.is_some() {
            // It is not read for a header, but it must be readable.
            if let Err(error) = self.tree.read(self.path, 1, &mut scratch.buffer) {
                self.state = State::Unreadable(error.to_string());
            }
            return;
        }
        if let Err(error) = self.read_head(&mut scratch.buffer) {
            self.state = State::Unreadable(error.to_string());
            return;
        }
        self.tags = tags(&self.head, self.path, &self.text);
        self.read_sidecar(scratch.sidecars);
        if self.tags.is_empty() && self.state != State::Empty && copyrights(&self.head.lines).next().is_none() {
            self.annotation = self.policy.annotation(self.path);
        }
        self.citations = self.policy.shape.find(&self.head.lines);
        self.expression = match (&self.tags[..], self.annotation) {
            ([tag], _) => Some(scratch.parse(&tag.value)),
            ([], Some(annotation)) => Some(Ok(Arc::clone(&annotation.expression))),
            // A sidecar that repeats the header says the same thing twice, which is one answer.
            ([first, second], _) if first.place.path != second.place.path && first.value == second.value => {
                Some(scratch.parse(&first.value))
            }
            _ => None,
        };
    }

    /// Reads as much of the file as its head needs.
    fn read_head(&mut self, buffer: &mut Vec<u8>) -> std::io::Result<()> {
        // A port's source path may stand in its first documentation, which is longer than a header.
        let mut limit = if matches!(self.class, Class::Port(_)) { 4 * FIRST } else { FIRST };
        loop {
            let all = self.tree.read(self.path, limit, buffer)?;
            if buffer.is_empty() {
                self.state = State::Empty;
                return Ok(());
            }
            let Some(text) = Text::new(buffer) else {
                self.state = State::Binary;
                return Ok(());
            };
            let Some(style) = style::of(self.path, &text.bytes, &self.policy.styles) else {
                self.state = State::Unknown;
                return Ok(());
            };
            // A mark that the end of what was read cuts in two would look like code: only whole lines are looked at.
            let whole = text.bytes.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).filter(|_| !all);
            let head = head::read(&text.bytes[..whole.map_or(text.bytes.len(), |at| at + 1)], style);
            if head.complete || all {
                self.state = State::Text(style);
                // Later lines are never shown.
                let speaks = head.lines.iter().any(|line| line.text.starts_with(TAG));
                let shown = if speaks && head.doc.is_empty() { head.end } else { text.bytes.len() };
                self.text.extend_from_slice(&text.bytes[..line_end(&text.bytes, shown.min(text.bytes.len())).0]);
                self.head = head;
                return Ok(());
            }
            limit = limit.saturating_mul(4);
        }
    }

    /// A sidecar speaks for a file that cannot; beside a header it must say the same.
    fn read_sidecar(&mut self, sidecars: &HashSet<&str>) {
        let path = format!("{}.license", self.path);
        if !sidecars.contains(path.as_str()) {
            return;
        }
        let Ok(bytes) = self.tree.all(&path) else { return };
        let Some(text) = Text::new(&bytes) else { return };
        let head = head::plain(&text.bytes);
        let mut more = tags(&head, &path, &text.bytes);
        if self.tags.is_empty() {
            self.carrier = path;
            self.head = head;
            self.text = text.bytes.into_owned();
            self.tags = more;
        } else {
            self.tags.append(&mut more);
        }
    }

    /// Whether the file is one that must say under which terms it stands.
    #[must_use]
    pub fn must_speak(&self) -> bool {
        matches!(self.state, State::Text(_) | State::Unknown | State::Binary)
    }

    /// Whether it says nothing: neither a tag nor a copyright line, in it or for it.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.tags.is_empty() && self.annotation.is_none() && self.copyrights().next().is_none()
    }

    /// The valid expression that holds for the file.
    #[must_use]
    pub fn valid(&self) -> Option<&Arc<Expr>> {
        self.expression.as_ref().and_then(|parsed| parsed.as_ref().ok())
    }

    /// The bucket of a port.
    #[must_use]
    pub fn bucket(&self) -> Option<&'a crate::policy::Bucket> {
        match self.class {
            Class::Native => None,
            Class::Port(index) => Some(&self.policy.buckets[index]),
        }
    }

    /// The bucket of a port that has a head to look at: a port without any header is one finding, not seven.
    #[must_use]
    pub fn port(&self) -> Option<&'a crate::policy::Bucket> {
        self.bucket().filter(|_| self.must_speak() && !self.is_silent())
    }

    /// The override that holds for the file.
    #[must_use]
    pub fn override_(&self) -> Option<&'a Override> {
        self.policy.override_of(self.path)
    }

    /// Copyright lines of the head: index and line.
    pub fn copyrights(&self) -> impl Iterator<Item = (usize, &Line)> {
        copyrights(&self.head.lines)
    }

    /// The head's comments in one line, wrapping undone.
    #[must_use]
    pub fn words(&self) -> String {
        joined(&self.head.lines).0
    }

    /// The text that the head was read from.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Where a head line stands.
    #[must_use]
    pub fn place(&self, line: &Line) -> Place {
        Place::at(&self.carrier, line.line, line.column, &shown(&self.text, line.line), line.text.chars().count())
    }

    /// Where the head begins, for what is missing.
    #[must_use]
    pub fn top(&self) -> Place {
        let first = self.head.lines.iter().find(|line| !line.text.is_empty());
        first.map_or_else(|| Place::whole(&self.carrier), |line| self.place(line))
    }
}

/// A line of a text, for a report.
fn shown(text: &[u8], line: u32) -> String {
    let mut at = 0;
    for _ in 1..line {
        at = line_end(text, at).1;
    }
    String::from_utf8_lossy(&text[at..line_end(text, at).0]).into_owned()
}

fn tags(head: &Head, path: &str, text: &[u8]) -> Vec<Tag> {
    let found = head.lines.iter().filter_map(|line| Some((line, line.text.strip_prefix(TAG)?)));
    found
        .map(|(line, value)| {
            let skipped = TAG.len() + value.len() - value.trim_start().len();
            let value = value.trim();
            let column = line.column + u32::try_from(skipped).unwrap_or(0);
            let place = Place::at(path, line.line, column, &shown(text, line.line), value.chars().count().max(1));
            Tag { value: value.to_owned(), place }
        })
        .collect()
}

/// Lines that state a copyright.
fn copyrights(lines: &[Line]) -> impl Iterator<Item = (usize, &Line)> {
    lines.iter().enumerate().filter(|(_, line)| is_copyright(&line.text))
}

/// Whether a line states a copyright: prose about copyright does not.
#[must_use]
pub fn is_copyright(text: &str) -> bool {
    let starts = |text: &str, word: &str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    // Doxygen's command.
    let text = text.strip_prefix(['\\', '@']).filter(|rest| starts(rest, "copyright")).map_or(text, |rest| {
        let words = rest["copyright".len()..].trim_start();
        if starts(words, "copyright") || starts(words, "(c)") { words } else { rest }
    });
    if starts(text, "SPDX-FileCopyrightText:") || text.starts_with('\u{a9}') {
        return true;
    }
    let (mark, rest) = if starts(text, "(c)") { (true, text[3..].trim_start()) } else { (false, text) };
    let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if !starts(rest, "copyright") {
        return mark && digit(rest);
    }
    let holder = rest["copyright".len()..].trim_start_matches([':', ',', ' ', '\t']);
    let named = rest.starts_with('C') && (holder.starts_with(|c: char| c.is_uppercase()) || starts(holder, "by "));
    named || digit(holder) || starts(holder, "(c)") || holder.starts_with('\u{a9}') || (mark && !holder.is_empty())
}

/// Whether `line` is the copyright line `pattern`, in which `{year}` stands for a year, a range or a list.
#[must_use]
pub fn is_own_copyright(line: &str, pattern: &str) -> bool {
    let Some((before, after)) = pattern.split_once("{year}") else { return line == pattern };
    let Some(middle) = line.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)) else { return false };
    let years: Vec<&str> = middle.split(['-', '\u{2013}', ',']).map(str::trim).collect();
    years.iter().all(|year| year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copyright_line_states_a_holder_or_a_year() {
        for yes in [
            "Copyright 2026 The authors",
            "Copyright (c) 2025 X",
            "copyright \u{a9} X",
            "SPDX-FileCopyrightText: X",
            "(C) 2024 X",
            "\u{a9} 2024",
            "Copyright The Authors",
            "(C) Copyright John Doe 2001.",
            "Copyright by Contributors 2020",
            "\\copyright Copyright (c) 2016 X",
            "@copyright 2016 X",
        ] {
            assert!(is_copyright(yes), "{yes}");
        }
        for no in [
            "copyright notice, this list",
            "Copyright",
            "(c) other terms",
            "copyrighted by",
            "\u{e9}",
            "copyright and licence",
            "\\copyright",
        ] {
            assert!(!is_copyright(no), "{no}");
        }
    }

    #[test]
    fn a_year_may_be_a_range_and_nothing_else() {
        let pattern = "Copyright {year} The authors";
        for (line, wanted) in [
            ("Copyright 2026 The authors", true),
            ("Copyright 2019-2026 The authors", true),
            ("Copyright 2019, 2021 The authors", true),
            ("Copyright The authors", false),
            ("Copyright 20 The authors", false),
            ("Copyright 2026 The author", false),
        ] {
            assert_eq!(is_own_copyright(line, pattern), wanted, "{line}");
        }
    }
}
