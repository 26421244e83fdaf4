// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What must stand above a header: the place where a header may begin.
//!
//! A header above a script's first line, a coding line, an XML declaration or a builder's directive changes what the
//! file means; these are looked for in the content, in the way the file's reader looks for them.

use crate::style::{Opening, Style};
use crate::text::line_end;

/// Where a header may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Byte offset in the text.
    pub offset: usize,
    /// Whether a header can be put there at all; if not, why.
    pub refused: Option<&'static str>,
}

/// The place where a header of the text may begin.
#[must_use]
pub fn start(bytes: &[u8], style: &Style) -> Start {
    let at = |offset| Start { offset, refused: None };
    let script = if is_script(bytes, style) { line_end(bytes, 0).1 } else { 0 };
    let rest = &bytes[script..];
    match style.opening {
        Opening::Rust if rest.starts_with(b"---") => {
            Start { offset: script, refused: Some("the manifest of a cargo script must stand above all comments") }
        }
        Opening::None | Opening::Rust => at(script),
        Opening::Coding => at(coding(bytes, script)),
        Opening::Docker => at(script + directives(rest)),
        Opening::Markup => markup(bytes, script),
        Opening::FrontMatter => at(script + front_matter(rest)),
        Opening::Css if rest.starts_with(b"@charset") => at(script + after(rest, b";")),
        Opening::Php if starts(rest, b"<?php") => at(line_end(bytes, script).1),
        Opening::Php => Start { offset: script, refused: Some("the file does not start with <?php") },
        Opening::Batch if starts(rest, b"@echo off") => at(line_end(bytes, script).1),
        Opening::Css | Opening::Batch => at(script),
    }
}

fn starts(bytes: &[u8], word: &[u8]) -> bool {
    bytes.len() >= word.len() && bytes[..word.len()].eq_ignore_ascii_case(word)
}

/// The offset of the line after the one in which `mark` ends; the end if there is none.
fn after(bytes: &[u8], mark: &[u8]) -> usize {
    find(bytes, mark, 0).map_or(bytes.len(), |at| line_end(bytes, at + mark.len()).1)
}

/// The offset of `mark` at or after `from`.
pub(crate) fn find(bytes: &[u8], mark: &[u8], from: usize) -> Option<usize> {
    bytes.get(from..)?.windows(mark.len()).position(|window| window == mark).map(|at| from + at)
}

/// `#!` starts a script, unless Rust reads an inner attribute there: `#!`, white space, `[`.
fn is_script(bytes: &[u8], style: &Style) -> bool {
    let Some(rest) = bytes.strip_prefix(b"#!") else { return false };
    style.opening != Opening::Rust || rest.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'[')
}

/// Python and Ruby look for a coding line in the first two lines, in the second only if the first is a comment or blank.
fn coding(bytes: &[u8], script: usize) -> usize {
    let line = |from: usize| {
        let (end, next) = line_end(bytes, from);
        (&bytes[from..end], next)
    };
    let (first, second_at) = line(0);
    if is_coding(first) {
        return second_at;
    }
    let trimmed = first.trim_ascii();
    // A header that already stands above a coding line is a header.
    if !trimmed.is_empty() && (trimmed[0] != b'#' || find(trimmed, b"SPDX-", 0).is_some()) {
        return script;
    }
    let (second, third_at) = line(second_at);
    if second_at < bytes.len() && is_coding(second) { third_at } else { script }
}

fn is_coding(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let Some(at) = find(line, b"coding", 0).filter(|_| line.starts_with(b"#")) else { return false };
    let rest = &line[at + 6..];
    let value = matches!(rest.first(), Some(b':' | b'=')).then(|| rest[1..].trim_ascii_start());
    value.is_some_and(|value| value.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte)))
}

/// `# syntax=`, `# escape=` and `# check=` count only above everything else.
fn directives(bytes: &[u8]) -> usize {
    let mut at = 0;
    while at < bytes.len() {
        let (end, next) = line_end(bytes, at);
        let line = bytes[at..end].trim_ascii();
        let Some(word) = line.strip_prefix(b"#").map(<[u8]>::trim_ascii_start) else { break };
        let is = |name: &[u8]| starts(word, name) && word[name.len()..].trim_ascii_start().first() == Some(&b'=');
        if ![&b"syntax"[..], b"escape", b"check"].into_iter().any(is) {
            break;
        }
        at = next;
    }
    at
}

/// After an XML declaration; else after a document type, which browsers want first.
fn markup(bytes: &[u8], from: usize) -> Start {
    let rest = &bytes[from..];
    let at = |offset| Start { offset, refused: None };
    if rest.starts_with(b"<?xml") {
        return match find(rest, b"?>", 0) {
            Some(end) => {
                // Whatever stands behind the declaration on its line stays behind the header.
                let (line, next) = line_end(rest, end + 2);
                let blank = rest[end + 2..line].trim_ascii().is_empty();
                at(from + if blank { next } else { end + 2 })
            }
            None => Start { offset: from, refused: Some("the XML declaration does not end") },
        };
    }
    let lead = rest.len() - rest.trim_ascii_start().len();
    if !starts(&rest[lead..], b"<!doctype") {
        return at(from);
    }
    // An internal subset between brackets holds `>` of its own.
    let mut depth = 0_i32;
    for (index, byte) in rest.iter().enumerate().skip(lead) {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            b'>' if depth <= 0 => {
                let (line, next) = line_end(rest, index + 1);
                let blank = rest[index + 1..line].trim_ascii().is_empty();
                return at(from + if blank { next } else { index + 1 });
            }
            _ => {}
        }
    }
    Start { offset: from, refused: Some("the document type does not end") }
}

fn front_matter(bytes: &[u8]) -> usize {
    let (end, mut at) = line_end(bytes, 0);
    if bytes[..end].trim_ascii_end() != b"---" {
        return 0;
    }
    while at < bytes.len() {
        let (end, next) = line_end(bytes, at);
        if matches!(bytes[at..end].trim_ascii_end(), b"---" | b"...") {
            return next;
        }
        at = next;
    }
    // Three dashes that nothing closes are a rule, not front matter.
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::named;

    #[test]
    fn a_header_begins_below_what_must_come_first() {
        for (style, text, above) in [
            ("rust", "#![no_std]\n//! doc\n", ""),
            ("rust", "#! \n [no_std]\n", ""),
            ("rust", "#!/usr/bin/env run-cargo-script\nfn main() {}\n", "#!/usr/bin/env run-cargo-script\n"),
            ("hash", "#!/bin/sh\r\nls\r\n", "#!/bin/sh\r\n"),
            ("python", "# -*- coding: latin-1 -*-\nx\n", "# -*- coding: latin-1 -*-\n"),
            (
                "python",
                "#!/usr/bin/python\n# vim: set fileencoding=utf-8 :\nx\n",
                "#!/usr/bin/python\n# vim: set fileencoding=utf-8 :\n",
            ),
            ("python", "# a\n# b\n# coding: utf-8\n", ""),
            ("python", "x = 1\n# coding: utf-8\n", ""),
            ("python", "# SPDX-License-Identifier: MIT\n# coding: utf-8\n", ""),
            ("html", "<?xml version=\"1.0\"?>\n<a/>\n", "<?xml version=\"1.0\"?>\n"),
            ("html", "<?xml version=\"1.0\"?><a/>\n", "<?xml version=\"1.0\"?>"),
            ("html", "<?xml version=\"1.0\"?>\n<!DOCTYPE a\n  SYSTEM \"a\">\n<a/>", "<?xml version=\"1.0\"?>\n"),
            ("html", "<!DOCTYPE html\n  [<!ENTITY a \"b\">]>\n<a/>", "<!DOCTYPE html\n  [<!ENTITY a \"b\">]>\n"),
            (
                "docker",
                "# syntax=docker/dockerfile:1\n# escape = `\nFROM x\n",
                "# syntax=docker/dockerfile:1\n# escape = `\n",
            ),
            ("docker", "# about\n# escape=`\n", ""),
            ("markdown", "---\ntitle: x\n---\ntext\n", "---\ntitle: x\n---\n"),
            ("markdown", "---\ntext\n", ""),
            ("css", "@charset \"utf-8\";\na{}\n", "@charset \"utf-8\";\n"),
            ("batch", "@echo off\r\nls\r\n", "@echo off\r\n"),
            ("php", "<?php\necho 1;\n", "<?php\n"),
        ] {
            let start = start(text.as_bytes(), named(style).unwrap());
            assert_eq!((&text[..start.offset], start.refused), (above, None), "{style} {text:?}");
        }
    }

    #[test]
    fn where_no_header_can_stand_the_reason_is_said() {
        for (style, text) in [
            ("rust", "---\n[package]\n---\nfn main() {}\n"),
            ("html", "<?xml version=\"1.0\"\n<a/>"),
            ("html", "<!DOCTYPE html\n<a"),
            ("php", "<html>\n"),
        ] {
            assert!(start(text.as_bytes(), named(style).unwrap()).refused.is_some(), "{style} {text:?}");
        }
    }
}
