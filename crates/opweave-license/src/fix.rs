// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `--fix`: the native header for native files without one, and nothing else.
//!
//! A file is refused whenever its head could mean something: terms without a tag, a holder, a word of porting. What is
//! written is the old bytes with the header between them, and it is written only if reading it again finds exactly the
//! native header.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::finding::Finding;
use crate::head::{self, Head};
use crate::opening;
use crate::policy::{Class, Native, Policy};
use crate::style::{self, Style};
use crate::text::{Text, line_end};
use crate::view::{TAG, is_copyright, is_own_copyright};

/// Bytes in which words of terms or origin are looked for, below the head too: some files begin with code.
const EARLY: usize = 4096;

/// Words of terms, of a holder or of an origin, in lower case.
const FOREIGN: [&str; 16] = [
    "licen",
    "copyright",
    "permission is hereby granted",
    "redistribution and use",
    "all rights reserved",
    "public domain",
    "ported from",
    "port of",
    "adapted from",
    "derived from",
    "copied from",
    "taken from",
    "modified from",
    "written by",
    "author:",
    "@author",
];

/// Why a file was not fixed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A port's header names its source, which no tool knows.
    #[error("it is a port; a port's header is written by hand")]
    Port,
    /// The head says something about terms or origin.
    #[error("its head says {0:?}; find out whose code it is")]
    Foreign(String),
    /// Nothing is known about its comments, or it is no text.
    #[error("it cannot hold a comment; add a sidecar or an annotation")]
    NoComment,
    /// A header cannot stand where it would have to.
    #[error("{0}")]
    Place(&'static str),
    /// It has a header that is not right, which is not replaced.
    #[error("it has a header that is not the native one; it is not replaced")]
    Header,
    /// The file is write-protected.
    #[error("it is read-only")]
    ReadOnly,
    /// The header would not be read back as one.
    #[error("a header would not be read back as one")]
    Unread,
    /// The file could not be read or written.
    #[error("{0}")]
    Io(String),
}

/// What `--fix` did.
#[derive(Clone, Debug, Default)]
pub struct Fixed {
    /// Paths that got a header.
    pub added: Vec<String>,
    /// Paths that did not, and why.
    pub refused: Vec<(String, Refusal)>,
}

/// The two lines of the native header, as they are written.
#[must_use]
pub fn header(native: &Native) -> [String; 2] {
    let tag = format!("{TAG} {}", native.text);
    let copyright = native.copyright.replace("{year}", &native.year.to_string());
    if native.copyright_first { [copyright, tag] } else { [tag, copyright] }
}

/// The first words among a file's early comments by which it may be somebody else's.
#[must_use]
pub fn foreign(bytes: &[u8], style: &Style) -> Option<String> {
    let early = if bytes.len() > EARLY { &bytes[..line_end(bytes, EARLY).0] } else { bytes };
    let head = head::read(early, style);
    let comments = head.lines.into_iter().chain(head.doc).chain(head::comments(early, style)).map(|line| line.text);
    // A holder counts wherever it stands: behind an odd directive, in a variable.
    let plain = String::from_utf8_lossy(early);
    let named = plain.lines().filter(|line| line.to_lowercase().contains("copyright")).map(str::to_owned);
    comments.chain(named).find(|text| {
        let lower = text.to_lowercase();
        FOREIGN.iter().any(|words| lower.contains(words)) || is_copyright(text)
    })
}

/// The bytes of a native file with the header put in, or `None` if it has the header already.
///
/// # Errors
/// If the file must not or cannot get one.
pub fn with_header(policy: &Policy, path: &str, raw: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
    if policy.class(path) != Class::Native {
        return Err(Refusal::Port);
    }
    if raw.is_empty() {
        return Ok(None);
    }
    let text = Text::new(raw).ok_or(Refusal::NoComment)?;
    let style = style::of(path, &text.bytes, &policy.styles).ok_or(Refusal::NoComment)?;
    let head = head::read(&text.bytes, style);
    match stands(policy, &head) {
        Some(true) => return Ok(None),
        Some(false) => return Err(Refusal::Header),
        None => {}
    }
    // The policy speaks of licences and holders by trade, and is always the repository's own.
    if path != policy.name()
        && let Some(words) = foreign(&text.bytes, style)
    {
        return Err(Refusal::Foreign(words));
    }
    if let Some(citation) = policy.shape.find(&head.lines).first() {
        return Err(Refusal::Foreign(head.lines[citation.line].text.clone()));
    }
    let start = opening::start(&text.bytes, style);
    if let Some(reason) = start.refused {
        return Err(Refusal::Place(reason));
    }
    let block = block(policy, style, &text, start.offset);
    let at = text.raw_offset(start.offset);
    let fixed = [&raw[..at], &text.encode(&block), &raw[at..]].concat();
    let again = Text::new(&fixed).ok_or(Refusal::Unread)?;
    if stands(policy, &head::read(&again.bytes, style)) != Some(true) {
        return Err(Refusal::Unread);
    }
    Ok(Some(fixed))
}

/// Whether the native header stands in a head; `None` if the head has neither tag nor copyright.
fn stands(policy: &Policy, head: &Head) -> Option<bool> {
    let tags: Vec<&str> = head.lines.iter().filter_map(|line| line.text.strip_prefix(TAG)).collect();
    let holders: Vec<&str> =
        head.lines.iter().map(|line| line.text.as_str()).filter(|text| is_copyright(text)).collect();
    if tags.is_empty()
        && holders.is_empty()
        && !head.lines.iter().any(|line| is_own_copyright(&line.text, &policy.native.copyright))
    {
        return None;
    }
    let own = head.lines.iter().any(|line| is_own_copyright(&line.text, &policy.native.copyright));
    let foreign = holders.iter().any(|text| !is_own_copyright(text, &policy.native.copyright));
    Some(own && !foreign && matches!(tags[..], [tag] if tag.trim() == policy.native.text))
}

/// The header as comments, with the line breaks around it that keep it apart.
fn block(policy: &Policy, style: &Style, text: &Text<'_>, at: usize) -> String {
    let newline = text.line_break();
    let lines = header(&policy.native);
    let mut block = String::new();
    // Behind something on the same line, or behind a last line without an end.
    if at > 0 && !matches!(text.bytes[at - 1], b'\n' | b'\r') {
        block.push_str(newline);
    }
    match (style.line.first(), style.block.first()) {
        (Some(mark), _) => {
            let space = if mark.ends_with(' ') { "" } else { " " };
            for line in &lines {
                block.push_str(&format!("{mark}{space}{line}{newline}"));
            }
        }
        (None, Some((open, close))) => {
            block.push_str(&format!("{open}{newline}"));
            for line in &lines {
                block.push_str(&format!("{line}{newline}"));
            }
            block.push_str(&format!("{close}{newline}"));
        }
        (None, None) => {}
    }
    // A blank line keeps the header apart from a comment that is about something else.
    let rest = &text.bytes[at..];
    let next = &rest[..line_end(rest, 0).0];
    if !rest.is_empty() && !next.trim_ascii().is_empty() {
        block.push_str(newline);
    }
    block
}

/// Puts the header into every file under `root` that a finding calls headless.
#[must_use]
pub fn fix(policy: &Policy, root: &Path, findings: &[Finding]) -> Fixed {
    let mut fixed = Fixed::default();
    for finding in findings.iter().filter(|finding| finding.rule == "L001") {
        match file(policy, root, &finding.path) {
            Ok(true) => fixed.added.push(finding.path.clone()),
            Ok(false) => {}
            Err(refusal) => fixed.refused.push((finding.path.clone(), refusal)),
        }
    }
    fixed
}

fn file(policy: &Policy, root: &Path, path: &str) -> Result<bool, Refusal> {
    let place = root.join(path);
    let broken = |error: io::Error| Refusal::Io(error.to_string());
    let metadata = fs::symlink_metadata(&place).map_err(broken)?;
    let raw = fs::read(&place).map_err(broken)?;
    let Some(bytes) = with_header(policy, path, &raw)? else { return Ok(false) };
    if metadata.permissions().readonly() {
        return Err(Refusal::ReadOnly);
    }
    replace(&place, &bytes, metadata.permissions()).map_err(broken)?;
    Ok(true)
}

/// Writes beside the file and renames: a killed run leaves the old file or the new one.
fn replace(place: &Path, bytes: &[u8], permissions: fs::Permissions) -> io::Result<()> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let temporary: PathBuf = place.with_file_name(format!(".{name}.{}.opweave-license", std::process::id()));
    let write = || -> io::Result<()> {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        file.write_all(bytes)?;
        file.set_permissions(permissions)?;
        file.sync_all()?;
        fs::rename(&temporary, place)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}
