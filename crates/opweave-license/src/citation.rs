// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A port's citation: the sentence that says from where the code comes.
//!
//! The default shape, once per source, wrapped at will:
//!
//! ```text
//! This file is a CUDA port of code from Project
//! (https://host/owner/project @ 0123456789abcdef0123456789abcdef01234567), Copyright (c) 2025 Owner
//! ```
//!
//! A sentence that is only partly there is still a citation, so that what is missing can be named.

use crate::head::Line;

/// The default shape.
pub const DEFAULT: &str = "This file is a {name} port of code from {project} ({url} @ {commit}), {copyright}";

/// The words around the values of a citation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    opening: String,
    anchor: String,
    before_url: String,
    before_commit: String,
    close: String,
}

/// One source that a file cites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// Project's name.
    pub project: Option<String>,
    /// Its URL.
    pub url: Option<String>,
    /// Whatever stands where the commit belongs.
    pub commit: Option<String>,
    /// The upstream copyright that follows.
    pub copyright: Option<String>,
    /// Index of the head line in which the citation begins.
    pub line: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Self::parse(DEFAULT).expect("the default shape is a shape")
    }
}

impl Shape {
    /// Reads a shape.
    ///
    /// # Errors
    /// If a placeholder is missing or out of order, or two are not kept apart by words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let legal = || {
            format!(
                "port_citation {text:?}: legal is a text with {{project}}, {{url}}, {{commit}} and {{copyright}} in this order, with words before the first and between each, and {{name}} before them at will; such as {DEFAULT:?}"
            )
        };
        let flat = squeeze(text);
        let mut rest = flat.as_str();
        let mut pieces = Vec::new();
        for mark in ["{project}", "{url}", "{commit}", "{copyright}"] {
            let (before, after) = rest.split_once(mark).ok_or_else(legal)?;
            pieces.push(before.trim().to_owned());
            rest = after;
        }
        let (opening, anchor) = match pieces[0].split_once("{name}") {
            Some((opening, anchor)) => (opening.trim().to_owned(), anchor.trim().to_owned()),
            None => (String::new(), pieces[0].clone()),
        };
        if anchor.is_empty() || pieces[1..].iter().any(String::is_empty) || !rest.trim().is_empty() {
            return Err(legal());
        }
        let [_, before_url, before_commit, close] = pieces.try_into().map_err(|_| legal())?;
        Ok(Self { opening, anchor, before_url, before_commit, close })
    }

    /// The citations in the comments at a file's head.
    #[must_use]
    pub fn find(&self, lines: &[Line]) -> Vec<Citation> {
        // Cheap refusal first: most files cite nothing.
        let key = self.anchor.split(' ').next_back().unwrap_or_default();
        if !lines.iter().any(|line| line.text.contains(key)) {
            return Vec::new();
        }
        let (text, starts) = joined(lines);
        let found: Vec<usize> = text.match_indices(&self.anchor).map(|(at, _)| at).collect();
        let mut citations = Vec::new();
        for (index, &at) in found.iter().enumerate() {
            let from = at + self.anchor.len();
            let limit = found.get(index + 1).copied().unwrap_or(text.len());
            // The next citation begins with its opening words, and terms of the file's own end the last one.
            let block = &text[from..limit];
            let ends = [self.opening.as_str(), "SPDX-"].into_iter().filter(|word| !word.is_empty());
            let end = ends.filter_map(|word| block.find(word)).min().unwrap_or(block.len());
            let line = starts.partition_point(|&start| start <= at).saturating_sub(1);
            citations.push(self.values(&block[..end], line));
        }
        citations
    }

    fn values(&self, block: &str, line: usize) -> Citation {
        let value =
            |text: &str| Some(text.trim().trim_end_matches([',', '.', ';']).to_owned()).filter(|text| !text.is_empty());
        let found = block.split_once(&self.before_url).filter(|(_, rest)| {
            // `(c)` is no URL.
            rest.split_whitespace().next().is_some_and(|word| word.contains('/'))
        });
        let Some((project, rest)) = found else {
            let project = block.split([',', '(']).next().unwrap_or_default();
            return Citation { project: value(project), url: None, commit: None, copyright: None, line };
        };
        // Without a copyright the closing words may be cut short.
        let short = self.close.chars().next().map(String::from).unwrap_or_default();
        let (inner, copyright) = rest
            .split_once(&self.close)
            .or_else(|| rest.split_once(&short))
            .map_or((rest, ""), |(inner, after)| (inner, after));
        let (url, commit) = inner.split_once(&self.before_commit).unwrap_or((inner, ""));
        Citation { project: value(project), url: value(url), commit: value(commit), copyright: value(copyright), line }
    }

    /// The citation of these values, as the shape writes it.
    #[must_use]
    pub fn example(&self, project: &str, url: &str, copyright: &str) -> String {
        let opening = if self.opening.is_empty() { String::new() } else { format!("{} CUDA ", self.opening) };
        let glue = if self.before_url == "(" { "" } else { " " };
        format!(
            "{opening}{} {project} {}{glue}{url} {} <40-hex commit>{} {copyright}",
            self.anchor, self.before_url, self.before_commit, self.close
        )
    }
}

/// Whether a text names a commit in full: 40 lower-case hexadecimal digits.
#[must_use]
pub fn is_full_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// All lines in one, and where each begins in it.
#[must_use]
pub fn joined(lines: &[Line]) -> (String, Vec<usize>) {
    let mut text = String::new();
    let mut starts = Vec::new();
    for line in lines {
        if !text.is_empty() {
            text.push(' ');
        }
        starts.push(text.len());
        text.push_str(&squeeze(&line.text));
    }
    (text, starts)
}

/// White space of any kind and length becomes one space.
#[must_use]
pub fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    fn find(text: &str) -> Vec<Citation> {
        let lines: Vec<Line> =
            text.lines().zip(1..).map(|(text, line)| Line { text: text.to_owned(), line, column: 1 }).collect();
        Shape::default().find(&lines)
    }

    #[test]
    fn several_sources_are_read_however_they_are_wrapped() {
        let text = format!(
            "About.\nThis file is a CUDA port of code from One\n(https://a/b @ {COMMIT}),\nCopyright (c) 2025 A\n\
             This file is a CUDA port of code from Two Three (https://c/d\n@ 559d79fb), Copyright (c) 2024 C, D\n\
             SPDX-License-Identifier: MIT\nCopyright 2026 Own"
        );
        let found = find(&text);
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].line, text(&found[0].project), text(&found[0].url)),
            (1, "One".into(), "https://a/b".into())
        );
        assert_eq!((text(&found[0].commit), text(&found[0].copyright)), (COMMIT.into(), "Copyright (c) 2025 A".into()));
        assert_eq!(
            (found[1].line, text(&found[1].project), text(&found[1].url)),
            (4, "Two Three".into(), "https://c/d".into())
        );
        assert_eq!(
            (text(&found[1].commit), text(&found[1].copyright)),
            ("559d79fb".into(), "Copyright (c) 2024 C, D".into())
        );
    }

    #[test]
    fn what_is_missing_is_none() {
        let only = |text: &str| find(text).remove(0);
        assert_eq!(only("a CUDA port of code from One").url, None);
        let cited = only("port of code from One (https://a/b)");
        assert_eq!((cited.url.as_deref(), cited.commit), (Some("https://a/b"), None));
        assert_eq!(only("port of code from One (https://a/b @ main)").commit.as_deref(), Some("main"));
        assert_eq!(only("port of code from One (https://a/b @ main)").copyright, None);
        assert!(find("SPDX-License-Identifier: MIT").is_empty());
    }

    #[test]
    fn a_shape_names_all_values_in_order() {
        assert!(Shape::parse("Ported from {project}, see {url} at {commit}: {copyright}").is_ok());
        for bad in [
            "",
            "{project} at {url} @ {commit}: {copyright}",
            "From {url} {project} {commit} {copyright}",
            "From {project} ({url} @ {commit}) {copyright} more",
        ] {
            assert!(Shape::parse(bad).unwrap_err().contains("legal is"), "{bad}");
        }
    }
}
