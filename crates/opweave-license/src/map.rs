// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The third-party map: what a project says about its ports to whoever receives it.
//!
//! A block of rows between two marks, the same in `LICENSE`, `NOTICE` and a README, where the marks may stand in HTML
//! comments and the rows in a table.

use crate::citation::squeeze;
use crate::expr::Expr;
use crate::finding::Place;
use crate::policy::Policy;

/// The mark above the rows.
pub const BEGIN: &str = "third-party map: begin";
/// The mark below them.
pub const END: &str = "third-party map: end";

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Glob or path.
    pub path: String,
    /// Upstream project.
    pub project: String,
    /// Its URL.
    pub url: String,
    /// Expression.
    pub expression: String,
    /// Where it stands.
    pub place: Place,
}

impl Row {
    /// As a line of the block.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} | {} | {} | {}", self.path, self.project, self.url, self.expression)
    }

    /// In what it differs from the policy's row, if it does.
    #[must_use]
    pub fn differs(&self, right: &Self) -> Option<String> {
        let say = |what: &str, is: &str, should: &str| {
            Some(format!("the map says {what} {is:?} for {}, the policy {should:?}", self.path))
        };
        if self.project != right.project {
            return say("project", &self.project, &right.project);
        }
        if self.url != right.url {
            return say("URL", &self.url, &right.url);
        }
        let same = match (Expr::parse(&self.expression), Expr::parse(&right.expression)) {
            (Ok(a), Ok(b)) => a.same_as(&b),
            _ => false,
        };
        if same { None } else { say("licence", &self.expression, &right.expression) }
    }
}

/// The rows that a policy asks for: one for each bucket's glob and for each override.
#[must_use]
pub fn wanted(policy: &Policy) -> Vec<Row> {
    let mut rows = Vec::new();
    let row = |path: &str, project: &str, url: &str, expression: String| Row {
        path: path.to_owned(),
        project: project.to_owned(),
        url: url.to_owned(),
        expression,
        place: Place::whole(policy.name()),
    };
    for bucket in &policy.buckets {
        for glob in &bucket.paths {
            rows.push(row(&glob.value, &bucket.project, &bucket.url, bucket.expression.to_string()));
        }
    }
    for entry in &policy.overrides {
        let bucket = policy.buckets_of(&entry.path).first().map(|index| &policy.buckets[*index]);
        let (project, url) = bucket.map_or(("-", "-"), |bucket| (bucket.project.as_str(), bucket.url.as_str()));
        rows.push(row(&entry.path, project, url, entry.expression.to_string()));
    }
    rows
}

/// The rows of a file.
///
/// # Errors
/// If a mark is missing or stands twice, or a row has no four cells.
pub fn read(path: &str, text: &str) -> Result<Vec<Row>, (Place, String)> {
    let mut rows = Vec::new();
    let (mut begun, mut ended) = (false, false);
    for (line, number) in text.lines().zip(1_u32..) {
        let place = |line: &str| Place::at(path, number, 1, line, line.chars().count());
        if line.contains(BEGIN) {
            if begun {
                return Err((place(line), "the map begins twice".into()));
            }
            begun = true;
        } else if line.contains(END) {
            if !begun || ended {
                return Err((place(line), "the map ends without having begun".into()));
            }
            ended = true;
        } else if begun && !ended {
            rows.extend(row(line, place(line))?);
        }
    }
    if begun && ended {
        return Ok(rows);
    }
    let which = if begun { "ends nowhere" } else { "is missing" };
    Err((Place::whole(path), format!("the third-party map {which}")))
}

/// A row; prose without bars, and the head of a table, are none.
fn row(line: &str, place: Place) -> Result<Option<Row>, (Place, String)> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    if !inner.contains('|') {
        return Ok(None);
    }
    let cells: Vec<String> = inner.split('|').map(|cell| squeeze(cell.trim().trim_matches('`'))).collect();
    let [path, project, url, expression] = &cells[..] else {
        return Err((place, format!("a row has 4 cells (path, project, URL, licence), this one {}", cells.len())));
    };
    let rule = path.chars().all(|c| matches!(c, '-' | ':' | ' '));
    if rule || path.eq_ignore_ascii_case("path") {
        return Ok(None);
    }
    let (path, project, url, expression) = (path.clone(), project.clone(), url.clone(), expression.clone());
    Ok(Some(Row { path, project, url, expression, place }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_rows_and_tables_are_read() {
        let plain = format!("x\n{BEGIN}\nNone of ours.\na/** | P | https://p | MIT\n{END}\ny | z\n");
        let table = format!(
            "<!-- {BEGIN} -->\n| path | project | URL | licence |\n| --- | --- | --- | --- |\n| `a/**` | P | https://p | MIT |\n<!-- {END} -->\n"
        );
        for text in [plain, table] {
            let rows = read("F", &text).unwrap();
            assert_eq!(rows.iter().map(Row::text).collect::<Vec<_>>(), ["a/** | P | https://p | MIT"]);
        }
    }

    #[test]
    fn a_block_that_is_none_is_said() {
        for (text, wanted) in [
            (String::new(), "missing"),
            (format!("{BEGIN}\n"), "ends nowhere"),
            (format!("{END}\n"), "without having begun"),
            (format!("{BEGIN}\n{BEGIN}\n"), "twice"),
            (format!("{BEGIN}\na | b\n{END}\n"), "4 cells"),
        ] {
            assert!(read("F", &text).unwrap_err().1.contains(wanted), "{text:?}");
        }
    }
}
