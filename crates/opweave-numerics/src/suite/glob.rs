// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Globs over labels.

/// A pattern in which `*` stands for any run of characters and `?` for one. Everything else stands for itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Glob(String);

impl Glob {
    /// The pattern.
    pub fn new(pattern: impl Into<String>) -> Glob {
        Glob(pattern.into())
    }

    /// The pattern's text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether the whole of `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        let (pattern, text): (Vec<char>, Vec<char>) = (self.0.chars().collect(), text.chars().collect());
        let (mut p, mut t) = (0, 0);
        // Where the last star was, and how much text it has taken: the only place to come back to.
        let mut star: Option<(usize, usize)> = None;
        while t < text.len() {
            if p < pattern.len() && pattern[p] == '*' {
                star = Some((p, t));
                p += 1;
            } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == text[t]) {
                (p, t) = (p + 1, t + 1);
            } else if let Some((at, taken)) = star {
                star = Some((at, taken + 1));
                (p, t) = (at + 1, taken + 1);
            } else {
                return false;
            }
        }
        pattern[p..].iter().all(|&c| c == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        let cases = [
            ("t4_h8_bf16", "t4_h8_bf16", true),
            ("t4_h8", "t4_h8_bf16", false),
            ("t4*", "t4_h8_bf16", true),
            ("*bf16", "t4_h8_bf16", true),
            ("*h8*", "t4_h8_bf16", true),
            ("*_*_*_*", "t4_h8_bf16", false),
            ("t?_h?_*", "t4_h8_bf16", true),
            ("*", "", true),
            ("", "", true),
            ("?", "", false),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbXbX", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(Glob::new(pattern).matches(text), expected, "{pattern} on {text}");
        }
    }
}
