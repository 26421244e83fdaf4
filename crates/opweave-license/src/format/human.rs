// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! For people: what is wrong, the line, and how to mend it.

use std::fmt::Write;

use crate::finding::{Finding, Severity};

/// Longer lines are cut around what is meant.
const WIDTH: usize = 120;

/// The findings with their source lines. `color` writes terminal colours.
#[must_use]
pub fn human(findings: &[Finding], color: bool) -> String {
    let paint = |code: &str, text: &str| if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() };
    let mut out = String::new();
    for finding in findings {
        let (tone, word) = match finding.severity {
            Severity::Error => ("1;31", "error"),
            Severity::Warning => ("1;33", "warning"),
        };
        let title = paint(tone, &format!("{word}[{} {}]", finding.rule, finding.name));
        let _ = writeln!(out, "{title}: {}", finding.message);
        let number = finding.line.to_string();
        let pad = " ".repeat(number.len());
        let arrow = paint("1;34", &format!("{pad}-->"));
        let _ = writeln!(out, "{arrow} {}:{}:{}", finding.path, finding.line, finding.column);
        let bar = paint("1;34", "|");
        if let Some(excerpt) = &finding.excerpt {
            let (line, at, length) = window(excerpt, finding.column as usize, finding.length as usize);
            let _ = writeln!(out, "{pad} {bar}");
            let _ = writeln!(out, "{} {bar} {line}", paint("1;34", &number));
            let _ = writeln!(out, "{pad} {bar} {}{}", " ".repeat(at), paint(tone, &"^".repeat(length.max(1))));
        }
        let _ = writeln!(out, "{pad} {} help: {}\n", paint("1;34", "="), finding.help);
    }
    out
}

/// The part of a line that is shown, and where in it the marks stand. Control characters cannot reach a terminal.
fn window(line: &str, column: usize, length: usize) -> (String, usize, usize) {
    let characters: Vec<char> = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let at = column.saturating_sub(1).min(characters.len());
    let from = if at + length.min(40) > WIDTH { at.saturating_sub(40) } else { 0 };
    let to = characters.len().min(from + WIDTH);
    let length = length.min(to.saturating_sub(at));
    (characters[from..to].iter().collect(), at - from, length)
}

#[cfg(test)]
mod tests {
    use super::window;

    #[test]
    fn long_lines_are_cut_around_what_is_meant() {
        let line = format!("{}x{}", "a".repeat(300), "b".repeat(300));
        let (shown, at, length) = window(&line, 301, 1);
        assert_eq!((shown.chars().count(), shown.chars().nth(at), length), (120, Some('x'), 1));
        assert_eq!(window("a\tb\x1b", 2, 9), ("a b ".into(), 1, 3));
        assert_eq!(window("", 7, 3), (String::new(), 0, 0));
    }
}
