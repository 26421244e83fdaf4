// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The two things that the checks read out of Markdown: tables and fenced command blocks.

/// A table row: its line (from 1) and its cells.
#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    pub line: usize,
    pub cells: Vec<String>,
}

/// Rows of the table whose header cells are exactly `header`, or `None` if the text has no such table.
pub(crate) fn table(text: &str, header: &[&str]) -> Option<Vec<Row>> {
    let mut lines = text.lines().enumerate();
    lines.find(|(_, line)| cells(line).is_some_and(|found| found == header))?;
    let rows = lines
        .skip(1) // the line of dashes
        .map_while(|(at, line)| cells(line).map(|cells| Row { line: at + 1, cells }))
        .collect();
    Some(rows)
}

fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let (mut cells, mut cell, mut code) = (Vec::new(), String::new(), false);
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'|') => cell.extend(chars.next()),
            '|' if !code => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            _ => {
                code ^= c == '`';
                cell.push(c);
            }
        }
    }
    cells.push(cell.trim().to_owned());
    Some(cells)
}

/// The words between single backticks.
pub(crate) fn code_words(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Commands of the fenced blocks of the given language, in order: one a line, comments and blank lines left out.
pub(crate) fn commands<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let mut found = Vec::new();
    let mut inside = None;
    for line in text.lines() {
        match (line.trim().strip_prefix("```"), inside) {
            (Some(tag), None) => inside = Some(tag == language),
            (Some(_), Some(_)) => inside = None,
            (None, Some(true)) if !line.trim().is_empty() && !line.trim_start().starts_with('#') => {
                found.push(line.trim())
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_with_that_header_is_read() {
        let text = "| x | y |\n| - | - |\n| 0 | 0 |\n\n| a | b |\n| --- | --- |\n| `k` | one `a|b` |\n| c \\| d | e |\nend\n| not | this |\n";
        let rows = table(text, &["a", "b"]).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].line, rows[0].cells[1].as_str()), (7, "one `a|b`"));
        assert_eq!(rows[1].cells, ["c | d", "e"]);
        assert_eq!(table(text, &["a", "z"]), None);
    }

    #[test]
    fn commands_come_from_blocks_of_their_language() {
        let text = "```sh\n# why\ncargo a\n\ncargo b\n```\ntext\n```rust\nlet a;\n```\n";
        assert_eq!(commands(text, "sh"), ["cargo a", "cargo b"]);
        assert_eq!(code_words("`a`, and `b`"), ["a", "b"]);
    }
}
