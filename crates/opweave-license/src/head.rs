// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The comments at a file's head, line by line.
//!
//! Only these comments count: a tag in a string, in documentation or further down belongs to something else. The
//! region runs from the place where a header may begin over comments and blank lines to the first other text.

use crate::opening::{find, start};
use crate::style::Style;
use crate::text::line_end;

/// One line of a comment, without its marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The words, trimmed.
    pub text: String,
    /// Line in the file, from 1.
    pub line: u32,
    /// Column of the first character of `text`, from 1.
    pub column: u32,
}

/// The comments at a file's head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Lines of comments that are no documentation.
    pub lines: Vec<Line>,
    /// Lines of the documentation that follows: the first doc comment or docstring.
    pub doc: Vec<Line>,
    /// Where the region ends, in bytes of the text.
    pub end: usize,
    /// Whether the region ended before the text did: more text would change nothing.
    pub complete: bool,
}

/// Reads the head of `bytes`.
#[must_use]
pub fn read(bytes: &[u8], style: &Style) -> Head {
    let mut scan = Scan { bytes, style, head: Head::default(), counted: 0, line: 1 };
    scan.run(start(bytes, style).offset);
    scan.head
}

/// Plain lines without marks, as a sidecar holds them.
#[must_use]
pub fn plain(bytes: &[u8]) -> Head {
    let mut scan = Scan { bytes, style: &crate::style::STYLES[0], head: Head::default(), counted: 0, line: 1 };
    let mut at = 0;
    while at < bytes.len() {
        let (end, next) = line_end(bytes, at);
        let line = scan.trimmed(at, end);
        scan.head.lines.push(line);
        at = next;
    }
    scan.head.end = bytes.len();
    scan.head.complete = true;
    scan.head
}

/// All lines of a whole file that are comments of their own, documentation too: for texts that may stand anywhere.
#[must_use]
pub fn comments(bytes: &[u8], style: &Style) -> Vec<Line> {
    let mut scan = Scan { bytes, style, head: Head::default(), counted: 0, line: 1 };
    let mut at = 0;
    while at < bytes.len() {
        at = scan.blank(at);
        let Some(next) = scan.comment(at) else {
            at = line_end(bytes, at).1;
            continue;
        };
        at = next;
    }
    scan.head.lines
}

struct Scan<'a> {
    bytes: &'a [u8],
    style: &'a Style,
    head: Head,
    /// Line breaks are counted up to here, and `line` is the line there.
    counted: usize,
    line: u32,
}

impl Scan<'_> {
    fn run(&mut self, mut at: usize) {
        loop {
            at = self.lead(at);
            let rest = &self.bytes[at..];
            if rest.is_empty() {
                break;
            }
            if self.style.docs.iter().any(|mark| is_doc(rest, mark)) {
                self.head.complete = true;
                self.doc_comment(at);
                break;
            }
            let Some(next) = self.comment(at) else {
                self.head.complete = true;
                if self.style.name == "python" {
                    self.docstring(at);
                }
                break;
            };
            at = next;
        }
        self.head.end = at;
    }

    /// Skips white space, and lines that many files have above their header: an include guard, `"use strict"`.
    fn lead(&self, mut at: usize) -> usize {
        loop {
            at = self.blank(at);
            let (end, next) = line_end(self.bytes, at);
            let line = String::from_utf8_lossy(&self.bytes[at..end.min(at + 200)]);
            let mut words = line.split_whitespace();
            let guard = match (words.next(), words.next(), words.next()) {
                (Some("#ifndef" | "#define"), Some(_), None) | (Some("#pragma"), Some("once"), None) => true,
                (Some("#if"), Some(test), None) => test.starts_with("!defined"),
                (Some("\"use"), Some("strict\";"), None) | (Some("'use"), Some("strict';"), None) => true,
                _ => false,
            };
            if self.style.name != "c" || !guard {
                return at;
            }
            at = next;
        }
    }

    /// Skips white space.
    fn blank(&self, at: usize) -> usize {
        at + self.bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0b).count()
    }

    /// Takes the comment that starts at `at` and returns where it ends; `None` if none does.
    fn comment(&mut self, at: usize) -> Option<usize> {
        let rest = &self.bytes[at..];
        // Longer marks first: `#[[` encloses what `#` starts.
        if let Some((open, close)) = self.style.block.iter().find(|(open, _)| rest.starts_with(open.as_bytes())) {
            let (inner_end, end) = self.close(at, open, close);
            self.enclosed(at + open.len(), inner_end);
            return Some(end);
        }
        let mark = self.style.line.iter().find(|mark| rest.starts_with(mark.as_bytes()))?;
        let (end, next) = line_end(self.bytes, at);
        let last = mark.as_bytes().last().copied().unwrap_or(b' ');
        let repeated =
            self.bytes[at + mark.len()..end].iter().take_while(|byte| **byte == last && last != b' ').count();
        // Rust writes documentation with three slashes and prose with four; elsewhere more marks are decoration.
        let line = self.trimmed(at + mark.len() + repeated, end);
        self.head.lines.push(line);
        Some(next)
    }

    /// Where the words of an enclosed comment end, and where the comment does.
    fn close(&self, at: usize, open: &str, close: &str) -> (usize, usize) {
        let (open, close) = (open.as_bytes(), close.as_bytes());
        let mut depth = 1_usize;
        let mut from = at + open.len();
        loop {
            let Some(end) = find(self.bytes, close, from) else { return (self.bytes.len(), self.bytes.len()) };
            if self.style.nested
                && let Some(inner) = find(&self.bytes[..end], open, from)
            {
                depth += 1;
                from = inner + open.len();
                continue;
            }
            depth -= 1;
            if depth == 0 {
                return (end, end + close.len());
            }
            from = end + close.len();
        }
    }

    /// Takes the lines between two marks, without the asterisks that decorate them.
    fn enclosed(&mut self, mut at: usize, end: usize) {
        while at < end {
            let (stop, next) = line_end(&self.bytes[..end], at);
            let decoration = self.bytes[at..stop]
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace() || matches!(byte, b'*' | b'!' | b'|'))
                .count();
            let line = self.trimmed(at + decoration, stop);
            self.head.lines.push(line);
            at = next;
        }
    }

    /// The words between two offsets of one line.
    fn trimmed(&mut self, from: usize, to: usize) -> Line {
        let slice = &self.bytes[from..to.max(from)];
        let lead = slice.len() - slice.trim_ascii_start().len();
        // Frames drawn around a comment: `| words |`, `# words #`.
        let mut words = slice.trim_ascii();
        let framed = words.iter().rev().take_while(|byte| matches!(byte, b'*' | b'|' | b'#')).count();
        let (before, frame) = words.split_at(words.len() - framed);
        if !frame.is_empty() && before.last().is_none_or(u8::is_ascii_whitespace) {
            words = before.trim_ascii_end();
        }
        let at = from + lead;
        let (line, column) = self.place(at);
        Line { text: String::from_utf8_lossy(words).into_owned(), line, column }
    }

    /// Line and column of an offset, which never lies before the last one asked for.
    fn place(&mut self, at: usize) -> (u32, u32) {
        while self.counted < at {
            let (end, next) = line_end(self.bytes, self.counted);
            if next > at || next == self.counted || end == self.bytes.len() {
                break;
            }
            self.counted = next;
            self.line += 1;
        }
        let before = self.bytes.get(self.counted..at).unwrap_or_default();
        // Bytes that continue a UTF-8 character are none of their own.
        let characters = before.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        (self.line, u32::try_from(characters + 1).unwrap_or(u32::MAX))
    }

    /// The doc comment at `at`, which ends with the first line that is none.
    fn doc_comment(&mut self, mut at: usize) {
        let taken = std::mem::take(&mut self.head.lines);
        loop {
            at = self.blank(at);
            let rest = &self.bytes[at..];
            if !self.style.docs.iter().any(|mark| is_doc(rest, mark)) {
                break;
            }
            let Some(next) = self.comment(at) else { break };
            at = next;
        }
        if at >= self.bytes.len() {
            self.head.complete = false;
        }
        self.head.doc = std::mem::replace(&mut self.head.lines, taken);
        for line in &mut self.head.doc {
            let lead = line.text.len() - line.text.trim_start_matches(['!', '/']).len();
            line.text = line.text.split_off(lead).trim().to_owned();
        }
    }

    /// A string as the first statement.
    fn docstring(&mut self, at: usize) {
        let prefix = usize::from(self.bytes[at..].first().is_some_and(|byte| b"rRuU".contains(byte)));
        let from = at + prefix;
        for quotes in ["\"\"\"", "'''", "\"", "'"] {
            if !self.bytes[from..].starts_with(quotes.as_bytes()) {
                continue;
            }
            let inner = from + quotes.len();
            let end = find(self.bytes, quotes.as_bytes(), inner);
            self.head.complete = end.is_some();
            let taken = std::mem::take(&mut self.head.lines);
            self.enclosed(inner, end.unwrap_or(self.bytes.len()));
            self.head.doc = std::mem::replace(&mut self.head.lines, taken);
            return;
        }
    }
}

/// Whether a doc comment starts here: `////` and `/***` are prose, and `/**/` is empty.
fn is_doc(rest: &[u8], mark: &str) -> bool {
    let Some(after) = rest.strip_prefix(mark.as_bytes()) else { return false };
    match mark {
        "///" => after.first() != Some(&b'/'),
        "/**" => !matches!(after.first(), Some(b'*' | b'/')),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::named;

    fn lines(style: &str, text: &str) -> Vec<String> {
        let head = read(text.as_bytes(), named(style).unwrap());
        head.lines.iter().map(|line| format!("{}:{} {}", line.line, line.column, line.text)).collect()
    }

    #[test]
    fn only_comments_at_the_head_count() {
        for (style, text, wanted) in [
            ("rust", "// a\n\n// b\nfn f() {}\n// c\n", &["1:4 a", "3:4 b"][..]),
            ("rust", "// a\n//! doc\n// c\n", &["1:4 a"]),
            ("rust", "//// a\n/*** b ***/ x\n", &["1:6 a", "2:6 b"]),
            ("rust", "/* a /* b */ c */\n// d\n", &["1:4 a /* b */ c", "2:4 d"]),
            ("c", "/* a /* b */ c();\n// d\n", &["1:4 a /* b"]),
            ("c", "/**\n * a\r\n *\r\n * b\n **/\n", &["1:4 ", "2:4 a", "3:3 ", "4:4 b", "5:3 "]),
            ("python", "#!/bin/x\n# caf\u{e9} a\n\"\"\"d\"\"\"\n", &["2:3 caf\u{e9} a"]),
            ("html", "<!-- a -->\n<!--\n  b\n-->\n<p>", &["1:6 a", "2:5 ", "3:3 b"]),
            ("cmake", "#[[ a\nb ]]\n# c\nx()", &["1:5 a", "2:1 b", "3:3 c"]),
            ("batch", "@echo off\nREM a\n:: b\n", &["2:5 a", "3:4 b"]),
            ("hash", "###########\n# a       #\n###########\n", &["1:12 ", "2:3 a", "3:12 "]),
            ("c", "#ifndef A_H\n#define A_H\n// a\n#pragma once\n// b\n#define A 1\n// c\n", &["3:4 a", "5:4 b"]),
            ("c", "\"use strict\";\n// a\nx()\n", &["2:4 a"]),
            ("c", "/* never closed\n * b", &["1:4 never closed", "2:4 b"]),
            ("c", "\u{b}// a\r// b\rint c;", &["1:5 a", "2:4 b"]),
        ] {
            let found = lines(style, text);
            let found: Vec<&str> = found.iter().map(String::as_str).collect();
            assert_eq!(found, wanted, "{style} {text:?}");
        }
    }

    #[test]
    fn the_first_documentation_is_kept_apart() {
        for (style, text, wanted) in [
            ("rust", "// a\n\n//! b\n//! c\n\nuse d;\n", &["b", "c"][..]),
            ("rust", "/*! b\n * c */\nfn f() {}", &["b", "c"]),
            ("python", "# a\nr\"\"\"b\n\n  c\"\"\"\nimport d\n", &["b", "", "c"]),
            ("python", "# a\nimport b\n\"\"\"c\"\"\"\n", &[]),
        ] {
            let head = read(text.as_bytes(), named(style).unwrap());
            let doc: Vec<&str> = head.doc.iter().map(|line| line.text.as_str()).collect();
            assert_eq!(doc, wanted, "{style} {text:?}");
            assert!(head.complete);
        }
    }

    #[test]
    fn a_region_that_the_text_cuts_off_is_not_complete() {
        for (text, complete) in [("// a\n", false), ("// a\nx", true), ("/* a", false), ("//! a\n", false), ("", false)]
        {
            assert_eq!(read(text.as_bytes(), named("rust").unwrap()).complete, complete, "{text:?}");
        }
    }

    #[test]
    fn comments_are_found_anywhere() {
        let text = "// a\nint x; // not one of its own\n  /* b\n   * c */\nint y;\n";
        let found: Vec<String> = comments(text.as_bytes(), named("c").unwrap()).into_iter().map(|l| l.text).collect();
        assert_eq!(found, ["a", "b", "c"]);
    }
}
